import type { Callers } from './card-examples.ts'
import { type Client, payloadOf } from './client.ts'
import { encryptFor, type TestPartner } from './partner.ts'
import type { Recorder } from './recorder.ts'

interface GiftCardCallers extends Callers {
  /** A partner whose key the issuer's requests must not be encrypted with. */
  readonly outsider: TestPartner
}

interface IssuedCard {
  readonly svcCardId: string
  readonly issuer: Client
  readonly partner: TestPartner
}

const NOT_FOUND = ['card_not_found', 'Not there, or not yours'] as const
const STATUS = (svcCardId: string) => `/api/v0/partner/svcCard/${svcCardId}/status`

/** Examples of gift cards that a partner issues, finds and changes; returns the id of one. */
export async function recordGiftCards(recorder: Recorder, callers: GiftCardCallers): Promise<string> {
  const { issuer, partner } = callers
  const svcCardId = await recordOrders(recorder, callers)
  const card = { svcCardId, issuer, partner }
  await recordFinding(recorder, card)
  await recordChanges(recorder, card)
  return svcCardId
}

async function recordOrders(
  recorder: Recorder,
  { issuer, partner, outsider }: GiftCardCallers,
): Promise<string> {
  const { companyId, cardAccountId, partnerId } = partner
  const headers = { partnerId }
  const encrypted = { companyId, cardAccountId, firstName: 'Asha', mobile: '9876543210', loadAmount: '500' }
  const jwe = await encryptFor(partner, encrypted)
  const text = { ...headers, 'content-type': 'application/json' }
  const made = await recorder.works('createGiftCard', 'Encrypted with the shared key', issuer, {
    headers: { ...text, 'Idempotency-Key': 'gift-1042' },
    encrypted,
    body: JSON.stringify(jwe),
  })
  const tooMuch = { ...encrypted, loadAmount: '20000' }
  const refused = {
    headers: text,
    encrypted: tooMuch,
    body: JSON.stringify(await encryptFor(partner, tooMuch)),
  }
  await recorder.fails('createGiftCard', 'load_over_limit', 'More than a gift card may hold', issuer, refused)
  const foreign = {
    headers: text,
    encrypted,
    body: JSON.stringify(await encryptFor(partner, encrypted, outsider.sharedKey)),
  }
  const wrongKey = ['decryption_failed', 'Encrypted with somebody else’s key'] as const
  await recorder.fails('createGiftCard', ...wrongKey, issuer, foreign)
  await recorder.fails('createGiftCard', 'request_not_encrypted', 'Not encrypted at all', issuer, {
    headers,
    body: encrypted,
  })
  return payloadOf(made).svcCardId
}

async function recordFinding(recorder: Recorder, { svcCardId, issuer, partner }: IssuedCard): Promise<void> {
  const { companyId, cardAccountId, partnerId } = partner
  const headers = { partnerId }
  await recorder.works('getCard', 'One card', issuer, { headers, params: { svcCardId } })
  await recorder.fails('getCard', ...NOT_FOUND, issuer, missingFor(partner))
  await recorder.works('searchCards', 'Incentive: the full record of one card', issuer, {
    headers,
    body: { companyId, cardAccountId, svcCardId },
  })
  const unnamed = { headers, body: { companyId, cardAccountId } }
  const names = ['validation_failed', 'Incentive partners name the card'] as const
  await recorder.fails('searchCards', ...names, issuer, unnamed)
  const nowhere = { headers, body: { companyId: 'com_nothing', cardAccountId, svcCardId } }
  await recorder.fails('searchCards', 'company_not_found', 'Not there, or not yours', issuer, nowhere)
}

async function recordChanges(recorder: Recorder, { svcCardId, issuer, partner }: IssuedCard): Promise<void> {
  const found = { headers: { partnerId: partner.partnerId }, params: { svcCardId } }
  const missing = missingFor(partner)
  await recorder.works('changeCardStatus', 'Lock', issuer, {
    ...found,
    body: { status: 'L', reason: 'Lost' },
  })
  await issuer.patch(STATUS(svcCardId), { status: 'UL' })
  await recorder.fails('changeCardStatus', 'validation_failed', 'Blocking wants a reason', issuer, {
    ...found,
    body: { status: 'BL' },
  })
  await recorder.fails('changeCardStatus', ...NOT_FOUND, issuer, { ...missing, body: { status: 'L' } })
  await recorder.works('setCardFlags', 'No online use', issuer, { ...found, body: { onlineAllowed: false } })
  await recorder.fails('setCardFlags', ...NOT_FOUND, issuer, { ...missing, body: { posAllowed: true } })
  await recordActivation(recorder, issuer, partner)
  await recorder.works('listCardChanges', 'Who changed what, and why', issuer, {
    ...found,
    query: { limit: '2' },
  })
  await recorder.fails('listCardChanges', ...NOT_FOUND, issuer, missing)
  await recordTransactions(recorder, { svcCardId, issuer, partner })
}

async function recordTransactions(
  recorder: Recorder,
  { svcCardId, issuer, partner }: IssuedCard,
): Promise<void> {
  const found = { headers: { partnerId: partner.partnerId }, params: { svcCardId } }
  const missing = missingFor(partner)
  await recorder.works('listCardTransactions', 'What happened on it', issuer, {
    ...found,
    query: { limit: '2' },
  })
  await recorder.fails('listCardTransactions', ...NOT_FOUND, issuer, missing)
  await recorder.works('findCardTransactions', 'Loads of 500 rupees and more', issuer, {
    query: { kind: 'load', amountFrom: '500', limit: '1' },
  })
  await recorder.fails('findCardTransactions', 'validation_failed', 'No amount', issuer, {
    query: { amount: 'five' },
  })
  const period = { query: { from: '2026-01-01', to: '2026-01-31' } }
  await recorder.works('getCardStatement', 'A month', issuer, { ...found, ...period })
  await recorder.fails('getCardStatement', ...NOT_FOUND, issuer, { ...missing, ...period })
  await recorder.works('getCardStatementPdf', 'A month, as a file', issuer, { ...found, ...period })
  await recorder.fails('getCardStatementPdf', ...NOT_FOUND, issuer, { ...missing, ...period })
}

const missingFor = ({ partnerId }: TestPartner) => ({
  params: { svcCardId: 'card_nothing' },
  headers: { partnerId },
})

/** Examples of a physical card. */
async function recordActivation(recorder: Recorder, issuer: Client, partner: TestPartner): Promise<void> {
  const { companyId, cardAccountId, partnerId } = partner
  const order = await encryptFor(partner, { companyId, cardAccountId, firstName: 'Ravi', physicalCard: true })
  const { svcCardId } = payloadOf(await issuer.post('/api/v0/partner/svcCard', order))
  const requested = { params: { svcCardId }, headers: { partnerId }, body: {} }
  await recorder.works('activateCard', 'It has arrived', issuer, requested)
  await issuer.patch(STATUS(svcCardId), { status: 'BL', reason: 'Stolen' })
  await recorder.fails('activateCard', 'invalid_transition', 'It is blocked for good', issuer, requested)
}

/** Examples of the sandbox's terminal, with a card that has a balance; `open` has no credentials. */
export async function recordTerminal(recorder: Recorder, open: Client, svcCardId: string): Promise<void> {
  const params = { svcCardId }
  const spend = { amount: 120.5, channel: 'pos', merchantName: 'Corner Shop' }
  await recorder.works('sandboxSpend', 'At a shop', open, { params, body: spend })
  await recorder.fails('sandboxSpend', 'card_balance_too_low', 'More than the card holds', open, {
    params,
    body: { ...spend, amount: 9_000 },
  })
  await recorder.fails('sandboxSpend', 'channel_not_allowed', 'Switched off by the holder', open, {
    params,
    body: { ...spend, channel: 'online' },
  })
  await recorder.works('sandboxRefund', 'The shop gives money back', open, { params, body: { amount: 20.5 } })
  await recorder.fails('sandboxRefund', 'refund_over_spent', 'More than was spent', open, {
    params,
    body: { amount: 500 },
  })
}
