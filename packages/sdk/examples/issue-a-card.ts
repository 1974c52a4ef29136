// Issues a gift card so that nothing happens twice, whatever goes wrong. Needs a sandbox: `npm start`.
import { ConnectionError, Svc, SvcError } from '@svc/sdk'

const { demo, partner } = await Svc.sandbox()
const { companyId, cardAccountId } = demo.incentivePartner
// Kept with the order, so that it can be sent again after a crash, and still makes one card.
const idempotencyKey = `order-${process.argv[2] ?? crypto.randomUUID()}`

try {
  const order = { companyId, cardAccountId, firstName: 'Asha', mobile: '9876543210', loadAmount: '500' }
  const card = await partner.cards.create(order, { idempotencyKey, signal: AbortSignal.timeout(30_000) })
  console.log(`issued ${card.svcCardId} ${card.maskedNumber}, loaded with ${card.loadAmount} rupees`)
} catch (error) {
  if (SvcError.is(error, 'insufficient_funds')) console.error('The card account must be topped up first.')
  else if (error instanceof ConnectionError)
    console.error(`Not known yet. Run again with the same order: ${idempotencyKey}`)
  else throw error
  process.exitCode = 1
}
