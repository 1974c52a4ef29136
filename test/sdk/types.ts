import { type EventData, type EventType, type paths, Svc, SvcError, toPaise, verifyWebhook } from '@svc/sdk'

// Compiled, never run: every line below an @ts-expect-error must be refused, and every other one taken.

// oxlint-disable typescript/no-unnecessary-type-parameters -- that they are not is what the next two lines rest on
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <T extends true>(): T | void => undefined
// oxlint-enable typescript/no-unnecessary-type-parameters

const sandbox = await Svc.sandbox()
const { demo, merchant, partner, rewards } = sandbox

// What is answered has types, none of them any.
const code = await merchant.qrCodes.create({ qrName: 'Order', amount: 249.5, customParams: { table: '7' } })
holds<Equal<typeof code.qrCodeId, string>>()
holds<Equal<typeof code.status, 'ACTIVE' | 'CANCELLED'>>()
holds<Equal<typeof code.amount, number | undefined>>()
const card = await partner.cards.create({ companyId: 'c', cardAccountId: 'a', loadAmount: '500' })
holds<Equal<typeof card.cardStatus.name, 'L' | 'UL' | 'BL' | 'AP'>>()
holds<Equal<typeof card.otbBalance, number>>()
for await (const each of rewards.cards.all(demo.rewardsPartner)) holds<Equal<typeof each.firstName, string>>()
const { data } = await merchant.api.http.GET('/api/v0/qr-code/{qrCodeId}', {
  params: { path: { qrCodeId: 'q' } },
})
holds<Equal<NonNullable<typeof data>['response_code'], number>>()

// Wrong requests do not compile.
// @ts-expect-error an amount is a number of rupees
await merchant.qrCodes.create({ amount: '249.50' })
// @ts-expect-error a field that does not exist
await merchant.qrCodes.create({ ammount: 1 })
// @ts-expect-error an order needs its account
await partner.cards.create({ companyId: 'c' })
// @ts-expect-error orders are encrypted, and kept, before they are uploaded
await partner.cards.createMany([{ companyId: 'c', cardAccountId: 'a' }])
// @ts-expect-error a status that callers cannot set
await partner.cards.setStatus('card', { status: 'AP' })
// @ts-expect-error a merchant has no cards
merchant.cards.get('card')
// @ts-expect-error a path that does not exist
await merchant.api.http.GET('/api/v0/nothing')
// @ts-expect-error a payer may pay twice, so no key makes a payment one
await sandbox.pay({ qrCodeId: 'q' }, { idempotencyKey: 'k' })
// @ts-expect-error the bank may transfer twice
await sandbox.transfer({ virtualAccountNumber: 'v', amount: 1 }, { idempotencyKey: 'k' })
// @ts-expect-error a clock may be advanced twice
await sandbox.advance('t', { bySeconds: 1 }, { idempotencyKey: 'k' })
// @ts-expect-error each connection is tried once; `maxReconnects` limits how many
merchant.events.follow({ maxRetries: 2 })
const partnerOptions = { baseUrl: '', partnerId: '', clientId: '', clientSecret: '' }
// @ts-expect-error a key for encryption is one of three
Svc.partner({ ...partnerOptions, encryption: { publishedKey: 'RSA1_5' } })
// @ts-expect-error nothing is left out
Svc.merchant({ baseUrl: '' })
// @ts-expect-error amounts are numbers or texts
toPaise(1n)

// Failures are told apart by words that exist.
try {
  await merchant.qrCodes.cancel('qr')
} catch (error) {
  if (SvcError.is(error, 'qr_code_not_found')) holds<Equal<typeof error.error, 'qr_code_not_found'>>()
  // @ts-expect-error a word that no failure has
  SvcError.is(error, 'qr_code_lost')
}

// The type of an event tells what it holds, and the two registries name the same types.
const event = verifyWebhook('', {}, 'whsec_')
if (event.type === 'card.spent') holds<Equal<typeof event.data, EventData['card.spent']>>()
if (event.type === 'qr_code.credited') holds<Equal<typeof event.data.payerVpa, string | undefined>>()
for await (const each of merchant.events.follow({ type: 'qr_code.cancelled' }))
  holds<Equal<typeof each.type, 'qr_code.cancelled'>>()
type Documented =
  paths['/api/v0/events']['get']['responses'][200]['content']['application/json']['payload']['data'][number]['type']
holds<Equal<EventType, Documented>>()
