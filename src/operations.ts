import { issueMerchantToken } from './access/issue-merchant-token.ts'
import { issuePartnerToken } from './access/issue-partner-token.ts'
import { oauthMetadata } from './access/oauth-metadata.ts'
import { publishedKeys } from './access/published-keys.ts'
import { createGiftCard } from './cards/create-gift-card.ts'
import { getCard } from './cards/get-card.ts'
import { searchCards } from './cards/search-cards.ts'
import type { Operation } from './platform/http/operation.ts'
import { livez, metrics, readyz } from './platform/http/probes.ts'
import { acceptPayment } from './qr-codes/accept-payment.ts'
import { cancelQrCode } from './qr-codes/cancel-qr-code.ts'
import { confirmRefund } from './qr-codes/confirm-refund.ts'
import { createQrCode } from './qr-codes/create-qr-code.ts'
import { getQrCode } from './qr-codes/get-qr-code.ts'
import { listPayments } from './qr-codes/list-payments.ts'
import { searchQrCodes } from './qr-codes/search-qr-codes.ts'
import { payQrCode } from './sandbox/pay-qr-code.ts'

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
  getCard,
  searchCards,
  acceptPayment,
  confirmRefund,
  payQrCode,
  livez,
  readyz,
  metrics,
]
