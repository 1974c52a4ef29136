import { randomUUID } from 'node:crypto'
import { OPERATIONS } from '@svc/server/operations'
import type { Json } from './client.ts'

/** One id of everything that a tenant may have, by the name under which requests carry it. */
export type Ids = Record<string, string>

interface Request {
  readonly query?: string
  /** JSON, or bytes as they are. */
  readonly body?: Json
  readonly headers?: Record<string, string>
}

/** A request of each operation that is right when the ids in it are the caller's own. */
export type Row = (ids: Ids) => Request
/** Why an operation has no ids of tenants in it. */
const open = (why: string) => ({ why })
const IF_MATCH = { 'if-match': '"1"' }
const plain: Row = () => ({})
const empty: Row = () => ({ body: {} })

const WORLD = OPERATIONS.filter(({ auth, sandboxOnly }) => auth === 'none' && sandboxOnly)
const RAILS = OPERATIONS.filter(({ auth }) => ['rail', 'bankRail', 'cardRail'].includes(auth))
export const ROWS: Record<string, Row | { readonly why: string }> = {
  issueMerchantToken: open('the key names the tenant'),
  issuePartnerToken: open('the client names the tenant'),
  oauthMetadata: open('public'),
  publishedKeys: open('public'),
  getInterpretations: open('public'),
  publishedWebhookKeys: open('public'),
  createQrCode: ({ referenceNumber, customerId }) => ({ body: { referenceNumber, customerId } }),
  getQrCode: plain,
  searchQrCodes: ({ referenceNumber, customerId }) => ({ body: { referenceNumber, customerId } }),
  listPayments: plain,
  cancelQrCode: empty,
  getPayment: plain,
  createRefund: ({ referenceNumber }) => ({ body: { amount: 0.01, referenceNumber } }),
  getRefund: plain,
  listRefunds: ({ referenceNumber }) => ({ query: `?referenceNumber=${referenceNumber}` }),
  findRefunds: ({ referenceNumber }) => ({ query: `?referenceNumber=${referenceNumber}` }),
  listDisputes: plain,
  getDispute: plain,
  uploadAttachment: () => ({
    query: '?name=note.pdf',
    body: Buffer.from('%PDF-1.7'),
    headers: { 'content-type': 'application/pdf' },
  }),
  submitEvidence: () => ({ body: { evidence: 'Delivered' } }),
  listEvidence: plain,
  downloadAttachment: plain,
  acceptDispute: empty,
  listPayouts: plain,
  getPayout: plain,
  listPayoutLines: plain,
  getPayoutStatement: plain,
  listTaxDocuments: plain,
  getTaxDocument: plain,
  getTaxDocumentPdf: plain,
  findPayments: ({ qrCodeId, referenceNumber, utr }) => ({
    query: `?${new URLSearchParams(utr ? { utr } : { qrCodeId: qrCodeId!, referenceNumber: referenceNumber! })}`,
  }),
  createGiftCard: ({ companyId, cardAccountId, userId, referenceNumber }) => ({
    body: { companyId, cardAccountId, userId, referenceNumber },
  }),
  bulkIssueGiftCards: open('checked below, line by line'),
  bulkLoadCards: open('checked below, line by line'),
  getBulkJob: plain,
  listBulkResults: plain,
  getCard: plain,
  searchCards: ({ companyId, cardAccountId, svcCardId }) => ({
    body: { companyId, cardAccountId, svcCardId },
  }),
  changeCardStatus: () => ({ body: { status: 'L', reason: 'lost' } }),
  activateCard: empty,
  loadCard: ({ referenceNumber = 'load-1' }) => ({ body: { amount: 1, referenceNumber } }),
  unloadCard: ({ referenceNumber = 'unload-1' }) => ({ body: { amount: 1, referenceNumber } }),
  replaceCard: () => ({ body: { reason: 'lost' } }),
  returnCard: () => ({ body: { consentReference: 'letter-1' } }),
  getCardEnd: plain,
  ...Object.fromEntries(
    [
      'getCardBalance',
      'listCardAccounts',
      'getCardAccount',
      'getCardAccountStatement',
      'getCardAccountStatementPdf',
      'getFundingInstructions',
      'listCompanies',
      'getCompany',
      'getUser',
    ].map((id) => [id, plain]),
  ),
  createCompany: () => ({ body: { name: 'Acme' } }),
  updateCompany: () => ({ body: { name: 'Acme' } }),
  listUsers: ({ companyId }) => ({ query: `?companyId=${companyId}` }),
  createUser: ({ companyId }) => ({ body: { companyId, firstName: 'Asha' } }),
  updateUser: () => ({ body: { title: 'Ms' } }),
  eraseUser: empty,
  createCardAccount: ({ companyId }) => ({
    body: {
      companyId,
      product: 'incentive',
      accountType: 'GIFT',
      binType: 'GIFT',
      cardProgramme: 'Gift cards',
      denomination: 100,
    },
  }),
  updateCardAccount: () => ({ body: { denomination: 100 } }),
  getRecordSettings: plain,
  updateRecordSettings: () => ({ body: { extEntityId: 'ENTITY' } }),
  setCardFlags: () => ({ body: { posAllowed: false } }),
  listCardChanges: plain,
  listCardTransactions: plain,
  findCardTransactions: ({ svcCardId }) => ({ query: `?svcCardId=${svcCardId}` }),
  getCardStatement: plain,
  getCardStatementPdf: plain,
  listSpendRules: plain,
  getSpendRule: plain,
  createSpendRule: ({ svcCardId, cardAccountId }) => ({
    body: { name: 'Up to 100', svcCardId, cardAccountId, dayAmount: 100 },
  }),
  removeSpendRule: plain,
  backtestSpendRules: ({ svcCardId }) => ({ body: { svcCardId } }),
  getCoinConfig: plain,
  createCoinConfig: ({ companyId, event }) => ({
    body: { configuration: 'CUSTOM', companyId, event, amount: 1, title: 'Thanks' },
  }),
  searchCoinConfigs: ({ companyId, event }) => ({ body: { companyId, event } }),
  updateCoinConfig: () => ({ body: { title: 'New' }, headers: IF_MATCH }),
  deactivateCoinConfig: () => ({ body: {}, headers: IF_MATCH }),
  listCoinConfigRevisions: plain,
  allocateCoins: ({ requestId, event, userId, companyId, dryRun = 'yes' }) => ({
    body: { requestId, event, userId, companyId, dryRun: dryRun === 'yes' },
  }),
  getCoinAllocation: plain,
  // It waits for no confirmation: 409 to its own partner.
  confirmCoinAllocation: empty,
  voidCoinAllocation: () => ({ body: { requestId: randomUUID(), reason: 'returned' } }),
  getCoinLiability: plain,
  redeemCoins: ({ requestId, userId }) => ({ body: { requestId, userId, amount: 1 } }),
  getCoinBalance: plain,
  listCoinHistory: plain,
  listEvents: plain,
  getFeedHead: plain,
  listEventLeaves: plain,
  getEventProof: plain,
  getFeedConsistency: () => ({ query: '?from=0' }),
  listRequests: plain,
  streamEvents: open('has no ids; what it sends is the feed of listEvents'),
  createWebhookEndpoint: () => ({ body: { url: 'http://127.0.0.1:59999/' } }),
  listWebhookEndpoints: plain,
  getWebhookEndpoint: plain,
  updateWebhookEndpoint: () => ({ body: { description: 'new' } }),
  rotateWebhookSecret: empty,
  listWebhookAttempts: ({ eventId }) => ({ query: `?eventId=${eventId}` }),
  resendWebhookEvent: ({ eventId }) => ({ body: { eventId } }),
  replayWebhookEvents: () => ({ body: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' } }),
  deleteWebhookEndpoint: plain,
  ...Object.fromEntries(RAILS.map(({ id }) => [id, open('sees all tenants; its signature is asked for')])),
  ...Object.fromEntries(WORLD.map(({ id }) => [id, open('plays a payer, a shop or time; sandbox only')])),
  sandboxPayOut: open('plays operators and bank for the merchant of the token; sandbox only'),
  livez: open('public'),
  readyz: open('public'),
  metrics: open('guarded by its own token in live mode'),
}
