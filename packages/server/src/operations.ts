import type { TokenServices } from './access/authenticate.ts'
import { interpretations } from './access/interpretations.ts'
import { issueMerchantToken } from './access/issue-merchant-token.ts'
import { issuePartnerToken } from './access/issue-partner-token.ts'
import { oauthMetadata } from './access/oauth-metadata.ts'
import { publishedKeys } from './access/published-keys.ts'
import { receiveBankCreditOperation } from './cards/bank-rail.ts'
import { bulkLoadOperation } from './cards/bulk-loads.ts'
import { getBulkJob, listBulkResults } from './cards/bulk-progress.ts'
import { getCardAccountStatement, getCardAccountStatementPdf } from './cards/card-account-statement.ts'
import {
  createCardAccountOperation,
  getCardAccount,
  listCardAccounts,
  updateCardAccountOperation,
} from './cards/card-accounts.ts'
import {
  activateCardOperation,
  changeCardStatusOperation,
  setCardFlagsOperation,
} from './cards/card-changes.ts'
import { getCardEnd, replaceCardOperation, returnCardOperation } from './cards/card-ends.ts'
import { loadCardOperation, unloadCardOperation } from './cards/card-loads.ts'
import {
  adviseCard,
  authorizeCard,
  captureCard,
  inquireBalance,
  refundCardMessage,
  voidCard,
} from './cards/card-rail.ts'
import { getCardStatement, getCardStatementPdf } from './cards/card-statement.ts'
import { findCardTransactions, listCardTransactions } from './cards/card-transactions.ts'
import { getFundingInstructions } from './cards/funding-instructions.ts'
import { getCard, getCardBalance } from './cards/get-card.ts'
import { bulkIssueOperation, createGiftCardOperation } from './cards/issue-cards.ts'
import { listCardChanges } from './cards/list-card-changes.ts'
import { getRecordSettings, updateRecordSettingsOperation } from './cards/record-settings.ts'
import { searchCards } from './cards/search-cards.ts'
import {
  backtestSpendRulesOperation,
  createSpendRuleOperation,
  getSpendRule,
  listSpendRules,
  removeSpendRuleOperation,
} from './cards/spend-rules.ts'
import { confirmCoinAllocation, voidCoinAllocation } from './coins/allocation-changes.ts'
import { allocateCoinsOperation, redeemCoinsOperation } from './coins/allocations.ts'
import {
  createCoinConfigOperation,
  deactivateCoinConfigOperation,
  updateCoinConfigOperation,
} from './coins/coin-configs.ts'
import { getCoinAllocation } from './coins/get-coin-allocation.ts'
import { getCoinBalance } from './coins/get-coin-balance.ts'
import { getCoinConfig } from './coins/get-coin-config.ts'
import { getCoinLiability } from './coins/get-coin-liability.ts'
import { listCoinConfigRevisions } from './coins/list-coin-config-revisions.ts'
import { listCoinHistory } from './coins/list-coin-history.ts'
import { searchCoinConfigs } from './coins/search-coin-configs.ts'
import type { Operation } from './http/operation.ts'
import { livez, metrics, readyz } from './http/probes.ts'
import { downloadAttachment, listEvidence, uploadAttachmentOperation } from './payments/dispute-evidence.ts'
import {
  acceptDisputeOperation,
  getDispute,
  listDisputes,
  submitEvidenceOperation,
} from './payments/disputes.ts'
import { listPayments } from './payments/list-payments.ts'
import { findPayments, getPayment } from './payments/payments.ts'
import { getPayout, listPayoutLines, listPayouts } from './payments/payouts.ts'
import { receiveDisputeOperation } from './payments/rail-disputes.ts'
import { confirmRefundOperation } from './payments/rail-refunds.ts'
import { createRefundOperation, findRefunds, getRefund, listRefunds } from './payments/refunds.ts'
import { getTaxDocument, getTaxDocumentPdf, listTaxDocuments } from './payments/tax-documents.ts'
import { acceptPaymentOperation } from './payments/upi-rail.ts'
import { getQrCode } from './qr-codes/get-qr-code.ts'
import { cancelQrCodeOperation, createQrCodeOperation } from './qr-codes/qr-codes.ts'
import { searchQrCodes } from './qr-codes/search-qr-codes.ts'
import { receiveNetworkSettlement, receiveSettlement } from './rails/rail-settlements.ts'
import { listOwnRequests } from './requests/list-requests.ts'
import { transferFromBank } from './sandbox/bank-transfer.ts'
import { refundAtTerminal, spendAtTerminal } from './sandbox/card-terminal.ts'
import { sendNetworkMessage } from './sandbox/network-terminal.ts'
import { payOut } from './sandbox/pay-out.ts'
import { payQrCode } from './sandbox/pay-qr-code.ts'
import { advanceTestClock, type ClockServices, getTestClock } from './sandbox/test-clock.ts'
import { getPayoutStatement } from './statements/payout-statement.ts'
import {
  createCompanyOperation,
  getCompany,
  listCompanies,
  updateCompanyOperation,
} from './tenants/companies.ts'
import {
  createUserOperation,
  eraseUserOperation,
  getUser,
  listUsers,
  updateUserOperation,
} from './tenants/users.ts'
import {
  createEndpointOperation,
  deleteEndpointOperation,
  replayEventsOperation,
  resendEventOperation,
  rotateSecretOperation,
  updateEndpointOperation,
} from './webhooks/endpoints.ts'
import { listAttempts } from './webhooks/list-attempts.ts'
import { getEndpoint, listEndpoints } from './webhooks/list-endpoints.ts'
import { listEvents } from './webhooks/list-events.ts'
import { getEventProof, getFeedConsistency, getFeedHead, listEventLeaves } from './webhooks/prove-events.ts'
import { publishedWebhookKeys } from './webhooks/published-webhook-keys.ts'
import { type StreamServices, streamEvents } from './webhooks/stream-events.ts'

/** What the operations need of the composition. */
export type ApiServices = TokenServices & StreamServices & ClockServices

/** Every operation of the service: the table of contents. */
export const OPERATIONS: readonly Operation<ApiServices>[] = [
  issueMerchantToken,
  issuePartnerToken,
  oauthMetadata,
  publishedKeys,
  interpretations,
  createQrCodeOperation,
  getQrCode,
  searchQrCodes,
  listPayments,
  cancelQrCodeOperation,
  findPayments,
  getPayment,
  createRefundOperation,
  getRefund,
  listRefunds,
  findRefunds,
  listDisputes,
  getDispute,
  uploadAttachmentOperation,
  submitEvidenceOperation,
  listEvidence,
  downloadAttachment,
  acceptDisputeOperation,
  listPayouts,
  getPayout,
  listPayoutLines,
  getPayoutStatement,
  listTaxDocuments,
  getTaxDocument,
  getTaxDocumentPdf,
  createGiftCardOperation,
  bulkIssueOperation,
  bulkLoadOperation,
  getBulkJob,
  listBulkResults,
  getCard,
  searchCards,
  changeCardStatusOperation,
  activateCardOperation,
  setCardFlagsOperation,
  loadCardOperation,
  unloadCardOperation,
  replaceCardOperation,
  returnCardOperation,
  getCardEnd,
  getCardBalance,
  listCompanies,
  getCompany,
  createCompanyOperation,
  updateCompanyOperation,
  listUsers,
  getUser,
  createUserOperation,
  updateUserOperation,
  eraseUserOperation,
  createCardAccountOperation,
  listCardAccounts,
  getCardAccount,
  getRecordSettings,
  updateRecordSettingsOperation,
  updateCardAccountOperation,
  getCardAccountStatement,
  getCardAccountStatementPdf,
  getFundingInstructions,
  listCardChanges,
  listCardTransactions,
  findCardTransactions,
  getCardStatement,
  getCardStatementPdf,
  listSpendRules,
  getSpendRule,
  createSpendRuleOperation,
  removeSpendRuleOperation,
  backtestSpendRulesOperation,
  getCoinConfig,
  createCoinConfigOperation,
  searchCoinConfigs,
  updateCoinConfigOperation,
  deactivateCoinConfigOperation,
  listCoinConfigRevisions,
  allocateCoinsOperation,
  getCoinAllocation,
  confirmCoinAllocation,
  voidCoinAllocation,
  redeemCoinsOperation,
  getCoinBalance,
  listCoinHistory,
  getCoinLiability,
  listEvents,
  getFeedHead,
  listEventLeaves,
  getEventProof,
  getFeedConsistency,
  listOwnRequests,
  streamEvents,
  createEndpointOperation,
  listEndpoints,
  getEndpoint,
  updateEndpointOperation,
  deleteEndpointOperation,
  rotateSecretOperation,
  listAttempts,
  resendEventOperation,
  replayEventsOperation,
  publishedWebhookKeys,
  acceptPaymentOperation,
  confirmRefundOperation,
  receiveDisputeOperation,
  receiveSettlement,
  authorizeCard,
  captureCard,
  voidCard,
  refundCardMessage,
  adviseCard,
  inquireBalance,
  receiveNetworkSettlement,
  receiveBankCreditOperation,
  payQrCode,
  payOut,
  spendAtTerminal,
  refundAtTerminal,
  sendNetworkMessage,
  transferFromBank,
  getTestClock,
  advanceTestClock,
  livez,
  readyz,
  metrics,
]
