import { Merchant, type MerchantOptions } from './merchant.ts'
import { Partner, type PartnerOptions } from './partner.ts'
import { Sandbox, type SandboxOptions } from './sandbox.ts'

/** Where to begin. */
export const Svc = {
  /** The client of a merchant: QR codes, payments, refunds, disputes, payouts, events, webhooks. */
  merchant: (options: MerchantOptions): Merchant => new Merchant(options),
  /** The client of a card or rewards partner: companies, users, card accounts, gift cards, coins, events, webhooks. */
  partner: (options: PartnerOptions): Partner => new Partner(options),
  /** A sandbox that runs on this machine, by its `sandbox.json`: nothing to configure. */
  sandbox: (options?: SandboxOptions): Promise<Sandbox> => Sandbox.open(options),
} as const

export type { Api, Schemas } from './api.ts'
export type {
  BulkJob,
  BulkLoad,
  BulkResult,
  Card,
  CardAccountRef,
  CardChange,
  CardEnd,
  CardLoad,
  CardLoadRequest,
  CardReturn,
  CardStatement,
  CardTransaction,
  GiftCardOrder,
  IncentiveCard,
  RewardsCard,
} from './cards.ts'
export type { Checkpoint, FeedBalance } from './checkpoint.ts'
export type {
  CoinActivation,
  CoinAllocation,
  CoinAllocationState,
  CoinBalance,
  CoinConfig,
  CoinHistoryEntry,
  CoinLiability,
  CoinRedemption,
  CoinVoid,
} from './coins.ts'
export type {
  CardAccount,
  CardAccountSettings,
  Company,
  FundingInstructions,
  RecordSettings,
  User,
} from './companies.ts'
export type { Attachment, Dispute, DisputeFilter, Evidence } from './disputes.ts'
export type { EncryptWith, SharedKey } from './encryption.ts'
export {
  ConnectionError,
  SvcError,
  UnexpectedResponseError,
} from './errors.ts'
export type { Event, EventData, EventOf, EventType } from './events.ts'
export type { MerchantOptions } from './merchant.ts'
export { Merchant } from './merchant.ts'
export { formatRupees, toPaise, toRupees } from './money.ts'
export type { Hooks, Logger, RateLimit, RequestInfo, ResponseInfo, RetryInfo } from './observe.ts'
export { type Page, Paged } from './pages.ts'
export type { PartnerOptions } from './partner.ts'
export { Partner } from './partner.ts'
export type {
  PaymentDetail,
  PaymentFilter,
  PaymentRecord,
  Refund,
  RefundFilter,
  RefundRequest,
} from './payments.ts'
export type { Payout, PayoutFilter, PayoutLine } from './payouts.ts'
export type {
  CancelledQrCode,
  NewQrCode,
  Payment,
  PaymentOutcome,
  QrCode,
  QrCodeEnd,
  QrCodeFilter,
} from './qr-codes.ts'
export type { ErrorCode, ErrorType, FieldError, FieldRule } from './registry.ts'
export type { LoggedRequest, RequestFilter } from './requests.ts'
export type { Demo, DemoMerchant, DemoPartner, SandboxOptions } from './sandbox.ts'
export { Sandbox } from './sandbox.ts'
export type { paths } from './schema.ts'
export type { SpendBacktest, SpendRule } from './spend-rules.ts'
export type { CallOptions, ReadOptions, TransportOptions, WriteOptions } from './transport.ts'
export type { FeedVerification, RememberedHead, VerifyOptions } from './verify-feed.ts'
export { VERSION } from './version.ts'
export type { WaitOptions } from './wait-for-payment.ts'
export {
  type HeaderFields,
  type SignedWebhook,
  signWebhook,
  verifyWebhook,
  verifyWebhookByKey,
  WebhookVerificationError,
} from './webhook.ts'
export type { WebhookAttempt, WebhookEndpoint, WebhookEndpointWithSecret } from './webhooks.ts'
