import { issueMerchantToken } from './access/issue-merchant-token.ts'
import { issuePartnerToken } from './access/issue-partner-token.ts'
import { oauthMetadata } from './access/oauth-metadata.ts'
import { publishedKeys } from './access/published-keys.ts'
import { activateCard } from './cards/activate-card.ts'
import { bulkIssue } from './cards/bulk-issue.ts'
import { getBulkJob, listBulkResults } from './cards/bulk-progress.ts'
import { changeCardStatus } from './cards/change-card-status.ts'
import { createGiftCard } from './cards/create-gift-card.ts'
import { getCard } from './cards/get-card.ts'
import { listCardChanges } from './cards/list-card-changes.ts'
import { searchCards } from './cards/search-cards.ts'
import { setCardFlags } from './cards/set-card-flags.ts'
import { allocateCoins } from './coins/allocate-coins.ts'
import { createCoinConfig } from './coins/create-coin-config.ts'
import { deactivateCoinConfig } from './coins/deactivate-coin-config.ts'
import { getCoinBalance } from './coins/get-coin-balance.ts'
import { getCoinConfig } from './coins/get-coin-config.ts'
import { listCoinConfigRevisions } from './coins/list-coin-config-revisions.ts'
import { listCoinHistory } from './coins/list-coin-history.ts'
import { redeemCoins } from './coins/redeem-coins.ts'
import { searchCoinConfigs } from './coins/search-coin-configs.ts'
import { updateCoinConfig } from './coins/update-coin-config.ts'
import type { Operation } from './platform/http/operation.ts'
import { livez, metrics, readyz } from './platform/http/probes.ts'
import { acceptPayment } from './qr-codes/accept-payment.ts'
import { cancelQrCode } from './qr-codes/cancel-qr-code.ts'
import { confirmRefund } from './qr-codes/confirm-refund.ts'
import { createQrCode } from './qr-codes/create-qr-code.ts'
import { getQrCode } from './qr-codes/get-qr-code.ts'
import { listPayments } from './qr-codes/list-payments.ts'
import { searchQrCodes } from './qr-codes/search-qr-codes.ts'
import { refundAtTerminal, spendAtTerminal } from './sandbox/card-terminal.ts'
import { payQrCode } from './sandbox/pay-qr-code.ts'

import { deleteEndpoint, rotateSecret, updateEndpoint } from './webhooks/change-endpoint.ts'
import { createEndpoint } from './webhooks/create-endpoint.ts'
import { listAttempts } from './webhooks/list-attempts.ts'
import { getEndpoint, listEndpoints } from './webhooks/list-endpoints.ts'
import { listEvents } from './webhooks/list-events.ts'
import { publishedWebhookKeys } from './webhooks/published-webhook-keys.ts'
import { replayEvents, resendEvent } from './webhooks/replay-events.ts'
import { streamEvents } from './webhooks/stream-events.ts'

/** Every operation of the service: the table of contents. */
export const OPERATIONS: readonly Operation[] = [
  issueMerchantToken,
  issuePartnerToken,
  oauthMetadata,
  publishedKeys,
  createQrCode,
  getQrCode,
  searchQrCodes,
  listPayments,
  cancelQrCode,
  createGiftCard,
  bulkIssue,
  getBulkJob,
  listBulkResults,
  getCard,
  searchCards,
  changeCardStatus,
  activateCard,
  setCardFlags,
  listCardChanges,
  getCoinConfig,
  createCoinConfig,
  searchCoinConfigs,
  updateCoinConfig,
  deactivateCoinConfig,
  listCoinConfigRevisions,
  allocateCoins,
  redeemCoins,
  getCoinBalance,
  listCoinHistory,
  listEvents,
  streamEvents,
  createEndpoint,
  listEndpoints,
  getEndpoint,
  updateEndpoint,
  deleteEndpoint,
  rotateSecret,
  listAttempts,
  resendEvent,
  replayEvents,
  publishedWebhookKeys,
  acceptPayment,
  confirmRefund,
  payQrCode,
  spendAtTerminal,
  refundAtTerminal,
  livez,
  readyz,
  metrics,
]
