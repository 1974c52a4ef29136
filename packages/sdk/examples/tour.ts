// A tour of the service, against a sandbox on this machine. Start one with `npm start`, then: npx tsx packages/sdk/examples/tour.ts
import { Svc } from '@svc/sdk'

const sandbox = await Svc.sandbox() // finds data/sandbox.json; tokens, encryption and retries are taken care of
const { demo, merchant, partner, rewards } = sandbox

// A merchant makes a QR code, and a payer's app pays it.
const code = await merchant.qrCodes.create({ qrName: 'Counter 1', amount: 249.5, multipleUse: true })
const { payment } = await sandbox.pay({ qrCodeId: code.qrCodeId, payerVpa: 'asha@bank' })
console.log(`paid      ${payment?.amount} by ${payment?.payerVpa}: ${payment?.status}`)

// After the cancel nothing is accepted: money that comes too late goes back.
await merchant.qrCodes.cancel(code.qrCodeId)
const late = await sandbox.pay({ qrCodeId: code.qrCodeId, payerVpa: 'ravi@bank' })
console.log(`too late  ${late.payment?.status}, because ${late.payment?.reason}`)
for await (const each of merchant.qrCodes.payments(code.qrCodeId))
  console.log(`on record ${each.utr} ${each.status}`)

// A partner issues a gift card with an encrypted order, and finds it again.
const { companyId, cardAccountId } = demo.incentivePartner
const card = await partner.cards.create({ companyId, cardAccountId, firstName: 'Asha', loadAmount: '500' })
const found = await partner.cards.find({ companyId, cardAccountId, svcCardId: card.svcCardId })
console.log(`card      ${card.maskedNumber} holds ${found?.otbBalance} rupees`)

// An employee-rewards partner reads a whole account, streamed.
for await (const each of rewards.cards.all(demo.rewardsPartner))
  console.log(`employee  ${each.firstName} ${each.otbBalance}`)

const config = await partner.coins.getConfig(demo.coinConfigId)
console.log(`coins     ${config.event} earns ${config.amount}`)
