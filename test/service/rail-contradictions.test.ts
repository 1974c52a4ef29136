import { afterAll, beforeAll, expect, test } from 'vitest'
import { numberOf, transferTo } from '../harness/bank-rail.ts'
import { newIdentity, Terminal } from '../harness/card-rail.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { utrOf } from '../harness/disputes.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { creditOf, newCode, newUtr } from '../harness/qr-codes.ts'
import { shopWith } from '../harness/refunds.ts'
import { BANK_RAIL_KEY, CARD_RAIL_KEY, openService, RAIL_KEY, type TestService } from '../harness/service.ts'

let service: TestService
/** Of each address a message that is right, for each call a new one. */
const RIGHT: Record<string, () => Promise<object> | object> = {}
const LINE = { kind: 'charge', amount: 1 }

beforeAll(async () => {
  service = await openService({ background: false })
  const shop = await shopWith(service, 50_000)
  const { tr } = await newCode(service, shop.client, { multipleUse: true })
  const utr = await utrOf(service, shop.paymentId)
  const partner = await newPartner(service)
  const virtualAccount = await numberOf(service, partner)
  const issuer = await asPartner(service.client, partner)
  const { token } = payloadOf(await createCard(issuer, partner))
  const terminal = new Terminal(service.client, token as string)
  const sent = async () => {
    const request = { amount: 1, referenceNumber: newUtr() }
    return { refundId: payloadOf(await shop.client.post(shop.path, request)).refundId as string }
  }
  RIGHT['upi/credits'] = () => creditOf(tr)
  RIGHT['upi/refunds'] = async () => ({ ...(await sent()), status: 'SUCCESS' })
  RIGHT['upi/refunds failed'] = async () => ({ ...(await sent()), status: 'FAILED' })
  RIGHT['upi/disputes'] = () => ({ caseReference: newUtr(), utr, amount: 1 })
  RIGHT['upi/settlements'] = () => ({ batchUtr: newUtr(), valueDate: '2026-11-26', lines: [LINE] })
  RIGHT['bank/credits'] = () => transferTo(virtualAccount)
  const { authorizationId } = await terminal.authorize(100)
  RIGHT['cards/voids'] = () => ({ ...newIdentity(), token })
  RIGHT['cards/authorizations'] = () => ({ ...newIdentity(), token, amount: 1, channel: 'pos' })
  RIGHT['cards/captures'] = () => ({ ...newIdentity(), token, amount: 1, authorizationId })
})
afterAll(() => service.close())

const send = async (to: string, fields: object) => {
  const [path] = to.split(' ')
  const key = { upi: RAIL_KEY, bank: BANK_RAIL_KEY, cards: CARD_RAIL_KEY }[path!.split('/')[0]!]!
  return service.client.notify(`/rails/${path}`, { ...(await RIGHT[to]!()), ...fields }, key)
}

test.each([
  ['upi/credits', { tranStatus: 'FAILED' }, 'status'],
  ['upi/credits', { statusCode: 'U30' }, 'statusCode'],
  ['upi/credits', { rc: 'U30' }, 'rc'],
  ['upi/credits', { errMsg: 'no funds' }, 'errMsg'],
  ['upi/credits', { reversed: true }, 'reversed'],
  ['upi/credits', { refundStatus: 'SUCCESS' }, 'refundStatus'],
  ['upi/credits', { type: 'DEBIT' }, 'type'],
  ['upi/credits', { drCr: 'D' }, 'drCr'],
  ['upi/credits', { data: { status: 'FAILED' } }, 'data.status'],
  ['upi/credits', { response: { status: 'PENDING' } }, 'response.status'],
  ['upi/credits', { orderCurrency: 'USD' }, 'currency'],
  ['upi/credits', { cur: 'USD' }, 'currency'],
  ['bank/credits', { transferStatus: 'FAILED' }, 'status'],
  ['bank/credits', { CdtDbtInd: 'DBIT' }, 'CdtDbtInd'],
  ['upi/refunds', { refundStatus: 'FAILED' }, 'status'],
  ['upi/refunds', { responseCode: 'U30' }, 'responseCode'],
  ['upi/refunds failed', { success: true }, 'success'],
  ['upi/refunds failed', { responseCode: '00' }, 'responseCode'],
  ['upi/disputes', { dispute_status: 'nothing that we know' }, 'status'],
  ['upi/disputes', { event: 'dispute.lost' }, 'event'],
  ['upi/disputes', { data: { won: true } }, 'data.won'],
  ['upi/settlements', { success: false }, 'success'],
  ['upi/settlements', { responseCode: '91' }, 'responseCode'],
  ['upi/settlements', { settlementStatus: 'ON_HOLD' }, 'status'],
  ['upi/settlements', { lines: [{ ...LINE, settlementStatus: 'ON_HOLD' }] }, 'lines.0.status'],
  ['upi/settlements', { lines: [{ ...LINE, errorCode: 'ZM' }] }, 'lines.0.errorCode'],
  ['upi/settlements', { lines: [{ ...LINE, drCr: 'D' }] }, 'lines.0.drCr'],
  [
    'upi/settlements',
    { lines: [{ kind: 'payment', amount: 1, reference: '43219876500' }] },
    'lines.0.reference',
  ],
  ['cards/captures', { success: false }, 'success'],
  ['cards/captures', { approved: false }, 'approved'],
  ['cards/captures', { respCode: '51' }, 'responseCode'],
  ['cards/captures', { actionCode: '100' }, 'responseCode'],
  ['cards/captures', { captureStatus: 'FAILED' }, 'status'],
])('%s with %j is kept for people, who read that it is %s', async (to, fields, field) => {
  const { status, json, text } = await send(to, fields)
  const { payload } = json as { payload: Json }
  expect([status, payload['field'] ?? (payload['detail'] as string).split(' ')[0]], text).toEqual([
    202,
    field,
  ])
})

test.each([
  ['upi/credits', { txnStatus: 'SUCCESS', code: '42', type: 'CREDIT', remarks: 'failed twice', drCr: 'CR' }],
  ['upi/credits', { type: 'P2M', refundStatus: null, data: { status: 'SUCCESS' }, state: 'PAID' }],
  ['bank/credits', { transferStatus: 'SUCCESS', transferType: 'IMPS' }],
  ['upi/refunds', { refundStatus: 'SUCCESS', type: 'REFUND', responseCode: '00' }],
  ['upi/refunds failed', { refundStatus: 'FAILED', type: 'REFUND', responseCode: 'U30', success: false }],
  ['upi/disputes', { event: 'dispute.created', type: 'CHARGEBACK', won: false }],
  ['upi/settlements', { lines: [{ kind: 'dispute', amount: -1, reference: '98765432' }] }],
  ['upi/settlements', { settlementStatus: 'SETTLED', lines: [{ ...LINE, drCr: 'C' }] }],
  ['cards/captures', { actionCode: '000', approved: true, type: 'capture' }],
  ['cards/voids', { type: 'void', event: 'authorization.voided', reversed: true }],
  ['cards/authorizations', { captured: false, event: 'authorization.requested' }],
])('%s with %j says nothing else', async (to, fields) => {
  const { status, text } = await send(to, fields)
  expect(status, text).toBe(200)
  expect(text).not.toContain('declined')
})

test('a status under the name of its address is followed', async () => {
  const kept = async (to: string, fields: object) =>
    ((await send(to, fields)).json as { payload: Json }).payload['status']
  expect(await kept('upi/refunds', { status: null, refundStatus: 'FAILED', success: false })).toBe('FAILED')
  // A dispute that was not opened before is not won.
  expect(await kept('upi/disputes', { dispute_status: 'WON' })).toBe('QUARANTINED')
  const credit = { refundId: null, utr: newUtr(), status: null, refundStatus: 'FAILED' }
  expect((await send('upi/refunds', credit)).status).toBe(202)
})
