import { type RandomBytes, sortableId, timeOfId } from '@svc/kernel/ids'

/**
 * Every prefix of an id: what has such ids, and the fields of requests and responses that carry them. To callers an id
 * is opaque (decision A12); its prefix shows what it names, so one prefix never names two kinds.
 */
export const ID_KINDS = {
  acc: { of: 'card account', fields: ['cardAccountId'] },
  adj: { of: 'adjustment of a payment', fields: ['adjustmentId'] },
  alm: { of: 'message about an alert', fields: [] },
  alp: { of: 'process that watches for alerts', fields: [] },
  alr: { of: 'alert', fields: ['alertId'] },
  apv: {
    of: 'approval of a posting, of a change of who may act, or of what a merchant asks for',
    fields: ['approvalId'],
  },
  att: { of: 'attachment of evidence', fields: ['attachmentId', 'attachmentIds'] },
  bac: { of: 'our account at a bank', fields: ['bankAccountId'] },
  bat: { of: 'batch of commands', fields: [] },
  bkf: { of: 'file of a bank that was recorded', fields: ['bankFileId'] },
  bcr: { of: 'bank transfer to a card account', fields: ['creditId'] },
  blk: { of: 'bulk job', fields: ['jobId'] },
  cac: { of: 'activation of a coin allocation', fields: [] },
  cal: { of: 'coin allocation', fields: ['allocationId'] },
  card: { of: 'card', fields: ['svcCardId', 'primarySvcCardId', 'replacedSvcCardId'] },
  cau: { of: 'authorisation of a card', fields: ['authorizationId'] },
  ccf: { of: 'coin configuration', fields: ['coinConfigId'] },
  cex: { of: 'exception of the card rail', fields: ['exceptionId'] },
  chg: { of: 'change of a card', fields: ['changeId'] },
  cld: { of: 'load or unload of a card', fields: ['loadId'] },
  cmg: { of: 'message of the card network', fields: ['messageId', 'captureId'] },
  cli: { of: 'OAuth client', fields: ['clientId'] },
  com: { of: 'company', fields: ['companyId'] },
  crt: { of: 'return of what was left on a card', fields: ['returnId'] },
  crd: { of: 'reference of a card (decision C20)', fields: ['token'] },
  ctx: { of: 'transaction of a card', fields: ['cardTransactionId'] },
  cre: { of: 'coin redemption', fields: ['redemptionId'] },
  cvo: { of: 'void of a coin allocation', fields: ['voidId'] },
  dsp: { of: 'dispute of a payment', fields: ['disputeId'] },
  dk: { of: 'data key', fields: [] },
  evd: { of: 'evidence in a dispute', fields: ['evidenceId'] },
  evr: { of: 'run of evidence to the bank', fields: [] },
  evt: { of: 'event', fields: ['id', 'eventId'] },
  inv: { of: 'invitation of an operator', fields: ['invitationId'] },
  jrn: { of: 'journal', fields: ['journalId'] },
  key: { of: 'API key', fields: ['apiKeyId'] },
  mak: { of: 'access key of a merchant (decision A6)', fields: ['merchantAccessKey'] },
  mem: { of: 'member of a tenant', fields: ['memberId'] },
  mer: { of: 'merchant', fields: ['merchantId'] },
  ntc: { of: 'notice of the simulated rail', fields: [] },
  ofm: { of: 'movement of our own money at the bank', fields: ['movementId'] },
  opb: { of: 'file of opening balances', fields: [] },
  opr: { of: 'operator', fields: ['operatorId'] },
  par: { of: 'partner', fields: ['partnerId'] },
  pay: { of: 'payment', fields: ['paymentId'] },
  pky: { of: 'passkey of an operator or a member', fields: ['passkeyId'] },
  pyo: { of: 'payout to a merchant', fields: ['payoutId'] },
  pyr: { of: 'run of payouts to the bank', fields: [] },
  qr: { of: 'QR code', fields: ['qrCodeId', 'after'] },
  req: { of: 'request', fields: ['requestId'] },
  rfd: { of: 'refund of a payment', fields: ['refundId'] },
  rfr: { of: 'run of refunds to the bank', fields: ['runId'] },
  rnt: { of: 'notice of the rail', fields: ['noticeId'] },
  ses: { of: 'session of an operator', fields: ['sessionId'] },
  sk: { of: 'shared key', fields: ['kid'] },
  spr: { of: 'spend rule', fields: ['spendRuleId', 'replaces', 'remove'] },
  stb: { of: 'transfer of a bank or network', fields: ['batchId'] },
  stf: { of: 'settlement file of the bank', fields: [] },
  stl: { of: 'line of a bank statement', fields: ['lineId'] },
  stm: { of: 'bank statement', fields: ['statementId'] },
  svc: { of: 'transaction reference of a QR code, in upper case (decision Q12)', fields: ['tr'] },
  tdc: { of: 'certificate of tax deducted at source', fields: ['certificateId'] },
  tok: { of: 'access token', fields: ['jti'] },
  trf: { of: 'ledger transfer', fields: ['svcCardTxnId', 'transactionId'] },
  try: { of: 'award that is only tried', fields: [] },
  txd: { of: 'tax document', fields: ['documentId'] },
  usr: { of: 'user', fields: ['userId', 'primarySvcCardUserId'] },
  wha: { of: 'attempt to deliver a webhook', fields: ['attemptId'] },
  whe: { of: 'webhook endpoint', fields: ['endpointId'] },
  whp: { of: 'process that delivers webhooks', fields: [] },
  whs: { of: 'secret of a webhook endpoint', fields: ['secretId'] },
  yre: { of: 'year end', fields: [] },
} as const

export type IdPrefix = keyof typeof ID_KINDS

/** Ids are drawn before their rows are dated, by the clock of another machine: by so much their order may be another one. */
export const ID_SLACK_MS = 600_000

/** No id created before this instant sorts after it, and every later one does: instants as bounds of a range of ids. */
export const idFloor = (prefix: IdPrefix, at: Date): string =>
  `${prefix}_${timeOfId(Math.max(0, at.getTime()))}`

/** The part of an id that names the cell that issued it (decision X40); none where there are no cells. */
export const inCell = (cell: string | undefined): string => (cell === undefined ? '' : `${cell}_`)

/** A public id such as `qr_01jq…`: the prefix shows what it is, callers treat it as opaque. */
export const newId = (prefix: IdPrefix, nowMs: number, random: RandomBytes): string =>
  `${prefix}_${sortableId(nowMs, random)}`

/** Makes ids of the time that the clock shows. */
export const idMaker =
  (clock: { now(): number }, random: RandomBytes) =>
  (prefix: IdPrefix): string =>
    newId(prefix, clock.now(), random)
