import { approval } from './approvals/approval-record.ts'
import { bankCredit } from './cards/bank-credits.ts'
import { cardAccount } from './cards/card-accounts.ts'
import { cardException } from './cards/card-exceptions.ts'
import { card } from './cards/card-resource.ts'
import { cardTransaction } from './cards/card-transactions.ts'
import { cardChange } from './cards/list-card-changes.ts'
import { spendRule } from './cards/spend-rules.ts'
import { coinConfigRevision } from './coins/list-coin-config-revisions.ts'
import { coinHistoryEntry } from './coins/list-coin-history.ts'
import { coinConfig } from './coins/search-coin-configs.ts'
import type { Resource } from './http/resource.ts'
import { dispute } from './payments/disputes.ts'
import { payment } from './payments/payment-resource.ts'
import { payout, payoutLine } from './payments/payouts.ts'
import { refund } from './payments/refunds.ts'
import { openSettlementLine, settlement, settlementLine } from './payments/settlement-resource.ts'
import { taxDocument } from './payments/tax-documents.ts'
import { qrCode } from './qr-codes/search-qr-codes.ts'
import { railNotice } from './rails/rail-notices.ts'
import { loggedRequest } from './requests/list-requests.ts'
import { statementLine } from './statements/statement-lines.ts'
import { company } from './tenants/companies.ts'
import { merchant } from './tenants/merchants.ts'
import { partner } from './tenants/partners.ts'
import { user } from './tenants/users.ts'
import { event } from './webhooks/event-resource.ts'
import { webhookAttempt } from './webhooks/list-attempts.ts'
import { webhookEndpoint } from './webhooks/list-endpoints.ts'

/** The nouns that are described once, for every caller. */
export const RESOURCES = {
  merchant,
  partner,
  company,
  user,
  bankCredit,
  cardAccount,
  cardException,
  card,
  cardTransaction,
  spendRule,
  refund,
  dispute,
  payout,
  payment,
  railNotice,
  taxDocument,
  webhookEndpoint,
  settlement,
  settlementLine,
  openSettlementLine,
  approval,
  statementLine,
} satisfies Readonly<Record<string, Resource<never>>>

/** The nouns that tenants list within another record or by a search, and the log, which grows while it is read. */
export const PARTS = {
  event,
  payoutLine,
  webhookAttempt,
  cardChange,
  coinConfig,
  coinConfigRevision,
  coinHistoryEntry,
  qrCode,
  loggedRequest,
} satisfies Readonly<Record<string, Resource<never>>>
