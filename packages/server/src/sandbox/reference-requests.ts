import type { Request } from './live-values.ts'
import type { Records } from './reference-records.ts'
import type { ReferenceTenants } from './reference-tenants.ts'
import { cardMessages } from './signed-examples.ts'

/** What requests are made of, besides the tenants' records. */
export interface Sent {
  readonly tenants: ReferenceTenants
  readonly nowMs: number
  /** Encrypted orders of cards: each JWE counts once. */
  readonly orders: readonly [string, string, string]
}

/** The request of an operation, where it differs from the recorded one by more than its ids. */
export type RequestOf = (records: Records, sent: Sent) => Request

const at = (ms: number): string => new Date(ms).toISOString()

const OF_MERCHANT: Readonly<Record<string, RequestOf>> = {
  getPayment: ({ paymentId }) => ({ params: { paymentId } }),
  createRefund: ({ paymentId }, { nowMs }) => ({
    params: { paymentId },
    body: { amount: 0.01, referenceNumber: `refund-${nowMs}` },
  }),
  getRefund: ({ refundId, refundedPaymentId }) => ({ params: { paymentId: refundedPaymentId, refundId } }),
  listRefunds: ({ refundedPaymentId }) => ({ params: { paymentId: refundedPaymentId } }),
  getDispute: ({ disputeId }) => ({ params: { disputeId } }),
  uploadAttachment: ({ disputeId }, { nowMs }) => ({
    params: { disputeId },
    query: { name: 'delivery-note.pdf' },
    body: `%PDF-1.7 ${nowMs}`,
  }),
  submitEvidence: ({ disputeId }) => ({ params: { disputeId }, body: { evidence: 'Delivered on 3 April' } }),
  listEvidence: ({ attachedDisputeId }) => ({ params: { disputeId: attachedDisputeId } }),
  downloadAttachment: ({ attachedDisputeId, attachmentId }) => ({
    params: { disputeId: attachedDisputeId, attachmentId },
  }),
  acceptDispute: ({ lostDisputeId }) => ({ params: { disputeId: lostDisputeId } }),
  receiveSettlement: ({ utr }, { nowMs }) => ({
    body: {
      batchUtr: `BATCH${nowMs}`,
      valueDate: new Date(nowMs).toISOString().slice(0, 10),
      lines: [{ kind: 'payment', reference: utr, amount: 249.5 }],
    },
  }),
  receiveNetworkSettlement: (_, { nowMs }) => ({
    body: {
      batchUtr: `NETWORK${nowMs}`,
      valueDate: new Date(nowMs).toISOString().slice(0, 10),
      lines: [{ kind: 'interchange', amount: 1.5 }],
    },
  }),
  receiveDispute: ({ utr }, { nowMs }) => ({ body: { caseReference: `CASE${nowMs}`, utr, amount: 1 } }),
  getPayout: ({ payoutId }) => ({ params: { payoutId } }),
  listPayoutLines: ({ payoutId }) => ({ params: { payoutId } }),
  getPayoutStatement: ({ payoutId }) => ({ params: { payoutId } }),
  // A payment that is not paid out yet is what there is to pay out.
  sandboxPayOut: ({ paymentId }) => (paymentId ? { body: {} } : {}),
  cancelQrCode: ({ cancelledCodeId }) => ({ params: { qrCodeId: cancelledCodeId } }),
  sandboxPay: ({ qrCodeId }) => ({ body: { qrCodeId, amount: 249.5, payerVpa: 'asha@bank' } }),
  listEvents: () => ({ query: { after: '0', limit: '10' } }),
  streamEvents: () => ({ query: { after: '0' } }),
  deleteWebhookEndpoint: ({ deletedEndpointId }) => ({ params: { endpointId: deletedEndpointId } }),
  updateWebhookEndpoint: () => ({ body: { description: 'Updated from the reference' } }),
  replayWebhookEvents: (_, { nowMs }) => ({ body: { from: at(nowMs - 3_600_000), to: at(nowMs) } }),
}

const OF_PARTNER: Readonly<Record<string, RequestOf>> = {
  // The page sends a string as it is, so the string has to be JSON text; one pair of quotes is removed on the way.
  createGiftCard: (_, { orders: [order] }) => ({
    body: `"${JSON.stringify(order)}"`,
    headers: { 'Idempotency-Key': order.slice(-20) },
  }),
  bulkIssueGiftCards: (_, { orders: [, first, second] }) => ({ body: `${first}\n${second}` }),
  activateCard: ({ physicalCardId }) => ({ params: { svcCardId: physicalCardId } }),
  replaceCard: ({ lostCardId }) => ({ params: { svcCardId: lostCardId }, body: { reason: 'Lost' } }),
  loadCard: ({ reloadableCardId }, { nowMs }) => ({
    params: { svcCardId: reloadableCardId },
    body: { amount: 100, referenceNumber: `load-${nowMs}` },
  }),
  bulkLoadCards: ({ reloadableCardId }, { nowMs }) => ({
    body: JSON.stringify({ svcCardId: reloadableCardId, amount: 1, referenceNumber: `bulk-${nowMs}` }),
  }),
  unloadCard: ({ reloadableCardId }, { nowMs }) => ({
    params: { svcCardId: reloadableCardId },
    body: { amount: 1, referenceNumber: `unload-${nowMs}` },
  }),
  getSpendRule: ({ spendRuleId }) => ({ params: { spendRuleId } }),
  removeSpendRule: ({ removedRuleId }) => ({ params: { spendRuleId: removedRuleId } }),
  returnCard: ({ unwantedCardId }) => ({
    params: { svcCardId: unwantedCardId },
    body: { consentReference: 'letter' },
  }),
  changeCardStatus: ({ lockedCardId }) => ({ params: { svcCardId: lockedCardId } }),
  sandboxSpend: () => ({ body: { amount: 1, channel: 'pos', merchantName: 'Corner Shop' } }),
  sandboxRefund: () => ({ body: { amount: 1 } }),
  sandboxCardMessage: () => ({ body: { type: 'authorization', amount: 1, behaviour: 'timeout' } }),
  createCompany: (_, { nowMs }) => ({ body: { name: `Company ${nowMs}` } }),
  createUser: (_, { nowMs, tenants: { partner } }) => ({
    body: { companyId: partner.companyId, firstName: 'Asha', email: `asha.${nowMs}@example.com` },
  }),
  updateUser: () => ({ body: { title: 'Ms' } }),
  eraseUser: ({ leavingUserId }) => ({ params: { userId: leavingUserId } }),
  updateCardAccount: () => ({ body: { lowBalance: 5000 } }),
  updateRecordSettings: () => ({ body: { svcSupportEmail: 'help@acme.example' } }),
  getCardAccountStatement: () => ({ query: {} }),
  getCardAccountStatementPdf: () => ({ query: {} }),
  findCardTransactions: () => ({ query: { limit: '10' } }),
  getCardStatement: () => ({ query: {} }),
  getCardStatementPdf: () => ({ query: {} }),
  receiveBankCredit: ({ virtualAccount }, { nowMs }) => ({
    body: { utr: `NEFT${nowMs}`, virtualAccount, amount: 1_000 },
  }),
  sandboxBankTransfer: ({ virtualAccount }) => ({
    body: { virtualAccountNumber: virtualAccount, amount: 1_000 },
  }),
}

const OF_COINS: Readonly<Record<string, RequestOf>> = {
  createCoinConfig: (_, { nowMs }) => ({
    body: { event: `order.${nowMs}`, amount: 100, title: 'Thank you', perUserDailyLimit: 250 },
  }),
  updateCoinConfig: () => ({ headers: { 'If-Match': '*' } }),
  deactivateCoinConfig: ({ otherConfigId }) => ({ params: { coinConfigId: otherConfigId } }),
  allocateCoins: ({ coinConfigId }, { nowMs, tenants: { partner } }) => ({
    body: {
      requestId: `referral-${nowMs}`,
      event: coinConfigId && 'referral.completed',
      userId: partner.userId,
      companyId: partner.companyId,
    },
  }),
  getCoinAllocation: ({ allocationId }) => ({ params: { allocationId } }),
  confirmCoinAllocation: ({ allocationId }) => ({ params: { allocationId } }),
  // Of one id, so that the page sends it again and again.
  voidCoinAllocation: ({ voidedAllocationId }) => ({
    params: { allocationId: voidedAllocationId },
    body: { requestId: `return/${voidedAllocationId}`, reason: 'Order returned' },
  }),
  redeemCoins: (_, { nowMs, tenants: { partner } }) => ({
    body: { requestId: `voucher-${nowMs}`, userId: partner.userId, amount: 1 },
  }),
}

const ofMerchantClock: RequestOf = (_, { tenants: { merchant } }) => ({
  params: { tenantId: merchant.merchantId },
})

/** The operations of the card network, whose messages name the card by its token. */
const messageOf =
  (name: keyof ReturnType<typeof cardMessages>): RequestOf =>
  ({ cardToken }, { nowMs }) =>
    cardMessages(cardToken, nowMs)[name]!

export const REQUESTS: Readonly<Record<string, RequestOf>> = {
  ...OF_MERCHANT,
  ...OF_PARTNER,
  ...OF_COINS,
  sandboxGetClock: ofMerchantClock,
  sandboxAdvanceClock: (records, sent) => ({ ...ofMerchantClock(records, sent), body: { bySeconds: 60 } }),
  ...Object.fromEntries(Object.keys(cardMessages('', 0)).map((name) => [name, messageOf(name)])),
}
