// What a user of the SDK writes, with every kind of call: run on each runtime against a live sandbox.
import { Svc, SvcError, signWebhook, toPaise, verifyWebhook } from '@svc/sdk'

const sandbox = await Svc.sandbox()
const { demo, merchant, partner, rewards } = sandbox
const done: string[] = []

const after = await merchant.events.latest()
const code = await merchant.qrCodes.create({ qrName: 'Counter 1', amount: 249.5, multipleUse: true })
const { payment } = await sandbox.pay({ qrCodeId: code.qrCodeId, payerVpa: 'asha@bank' })
if (payment?.status === 'ACCEPTED' && toPaise(payment.amount) === 24_950n) done.push('payment')

for await (const event of merchant.events.follow({ after })) {
  if (event.type !== 'qr_code.credited' || event.data.qrCodeId !== code.qrCodeId) continue
  const secret = `whsec_${btoa('a secret of this very program')}`
  const { body, headers } = signWebhook(event, secret)
  const verified = verifyWebhook(body, headers, secret)
  if (verified.id === event.id) done.push('events', 'webhook')
  break
}

const { status } = await merchant.qrCodes.cancel(code.qrCodeId)
if (status === 'CANCELLED') done.push('cancel')
let listed = 0
for await (const each of merchant.qrCodes.list()) if (each.qrCodeId === code.qrCodeId) listed++
if (listed === 1) done.push('list')

const { companyId, cardAccountId } = demo.incentivePartner
const card = await partner.cards.create({ companyId, cardAccountId, firstName: 'Asha', loadAmount: '500' })
const found = await partner.cards.find({ companyId, cardAccountId, svcCardId: card.svcCardId })
if (found?.otbBalance === 500) done.push('encrypted order')
let cards = 0
for await (const each of rewards.cards.all(demo.rewardsPartner)) if (each.svcCardId) cards++
if (cards > 0) done.push('streamed search')

try {
  await merchant.qrCodes.get('qr_00000000000000000000000000')
} catch (error) {
  if (SvcError.is(error, 'qr_code_not_found')) done.push('typed error')
}
console.log(done.join(', '))
