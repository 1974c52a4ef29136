import { type Check, decided, specified } from '../check.ts'
import { at, fail, wantFailure, wantKind, wantOneOf, wantStatus, wantText, wantValue } from '../expect.ts'
import { interpretationOf } from '../interpretation.ts'
import { PATHS, type Subject, skip } from '../subject.ts'
import { block } from '../verdict.ts'
import { cancelled, statusOf } from './cancelled-code.ts'
import { wantInstant } from './qr-code-fields.ts'

const conflicts = async (subject: Subject): Promise<boolean> =>
  (await interpretationOf(subject, 'SECOND_CANCEL')) === 'conflict'

export const CANCEL_EFFECT_CHECKS: readonly Check[] = [
  decided(
    '4.2.repeat',
    'decision Q2',
    'Cancelling again returns what the first cancel returned, or 409 where SECOND_CANCEL is conflict',
    async (s) => {
      const { qrCodeId, response: reply } = await cancelled(s)
      if (reply.status !== 200) block(reply, 'payload', `needs a cancelled code: it returned ${reply.status}`)
      const again = await s.cancel(qrCodeId)
      if (await conflicts(s)) return wantFailure(again, 409, 'qr_code_already_cancelled')
      wantStatus(again, reply.status)
      if (again.text !== reply.text) fail(again, `the first response: ${reply.text}`, again.text)
    },
  ),
  decided('4.2.together', 'decision Q2', 'Five cancels at once all return the same response', async (s) => {
    const qrCodeId = await s.newQrCode()
    const responses = await Promise.all(Array.from({ length: 5 }, () => s.cancel(qrCodeId)))
    if (await conflicts(s)) {
      const first =
        responses.find(({ status }) => status === 200) ??
        fail(responses[0]!, 'one cancel of five to succeed', 'none')
      for (const response of responses)
        if (response !== first) wantFailure(response, 409, 'qr_code_already_cancelled')
      return
    }
    for (const response of responses) {
      wantStatus(response, 200)
      if (response.text !== responses[0]!.text)
        fail(response, `the same as the others: ${responses[0]!.text}`, response.text)
    }
  }),
  decided('4.2.reads-back', 'decision Q1', 'A cancelled code reads back as CANCELLED', async (s) => {
    await s.needCreation()
    const { qrCodeId } = await cancelled(s)
    wantValue(await statusOf(s, qrCodeId), 'payload.status', 'CANCELLED')
  }),
  decided('4.2.modified', 'decision Q2', 'modifiedOn is no earlier than createdOn', async (s) => {
    await s.needCreation()
    const { response: reply } = await cancelled(s)
    const [made, changed] = ['createdOn', 'modifiedOn'].map((name) => wantInstant(reply, `payload.${name}`))
    if (Date.parse(changed!) < Date.parse(made!)) fail(reply, `modifiedOn: ${made} or later`, changed!)
  }),
  decided(
    '4.2.no-image',
    'decision Q1',
    'A cancelled code comes without its image: it is not to be shown any more',
    async (s) => {
      const { response: reply } = await cancelled(s)
      wantKind(reply, 'payload', 'object')
      if (at(reply, 'payload.qrCodeBase64') !== undefined) fail(reply, 'no qrCodeBase64', 'an image')
    },
  ),
  specified(
    '4.2.pays-no-more',
    '§3.1, ACTIVE',
    'No payment is accepted through a code after it was cancelled',
    async (s) => {
      await s.needSimulator()
      const qrCodeId = await s.newQrCode({ multipleUse: true })
      const pay = () => s.call('POST', PATHS.pay, { qrCodeId, amount: 10 })
      if (at(await pay(), 'payload.payment.status') !== 'ACCEPTED')
        skip('the simulator has no payment accepted through a code that is active')
      wantStatus(await s.cancel(qrCodeId), 200)
      const paid = await pay()
      if (wantText(paid, 'payload.payment.status') === 'ACCEPTED')
        fail(paid, 'payload.payment.status: another than ACCEPTED', 'ACCEPTED')
    },
  ),
  decided(
    '4.2.pays-before',
    'decision Q3',
    'A payment is accepted through a code that was not cancelled',
    async (s) => {
      await s.needSimulator()
      const qrCodeId = await s.newQrCode({ multipleUse: true })
      const paid = await s.call('POST', PATHS.pay, { qrCodeId, amount: 10 })
      wantValue(paid, 'payload.payment.status', 'ACCEPTED')
    },
  ),
  decided(
    '4.2.refunds',
    'decision Q3',
    'A credit after the cancel is recorded with its reason, and returned',
    async (s) => {
      await s.needSimulator()
      const qrCodeId = await s.newQrCode({ multipleUse: true })
      wantStatus(await s.cancel(qrCodeId), 200)
      const paid = await s.call('POST', PATHS.pay, { qrCodeId, amount: 10 })
      wantValue(paid, 'payload.payment.reason', 'qr_code_cancelled')
      const list = await s.call(
        'GET',
        `${PATHS.qrCode}/${qrCodeId}/payments`,
        undefined,
        await s.asMerchant(),
      )
      wantValue(list, 'payload.recordsCount', 1)
      wantValue(list, 'payload.data.0.reason', 'qr_code_cancelled')
      wantOneOf(list, 'payload.data.0.status', ['REFUND_PENDING', 'REFUNDED'])
    },
  ),
]
