import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminCli } from '../harness/cli.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { signedIn } from '../harness/console.ts'
import { expectFailure } from '../harness/failure.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let issuer: Client
let account: string

beforeAll(async () => {
  service = await openService({ background: false })
  partner = await newPartner(service)
  issuer = await asPartner(service.client, partner)
  account = `/api/v0/partner/card-accounts/${partner.cardAccountId}`
})
afterAll(() => service.close())

const { svc, done } = adminCli(() => service, {})
const recordOf = async (svcCardId: string): Promise<Json> =>
  payloadOf(await issuer.get(`/api/v0/partner/svcCard/${svcCardId}`))

const SETTINGS = {
  svcSupportEmail: 'help@acme.example',
  svcSupportMobile: '9876543210',
  partnerLogo: 'https://acme.example/logo.svg',
  defaultCardImage: 'https://acme.example/card.png',
  tncUrl: 'https://acme.example/terms',
  tncVersionMasterId: '2026-04',
  extEntityId: 'ACME-GIFTS',
  switchProvider: 'ACME-SWITCH',
  cardKitMasterId: 42,
}
const UNSET = {
  ...Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, ''])),
  cardKitMasterId: 0,
}

test('cards say what their card account says of support, terms, logo, image and kit, those that were issued before too, and no card of another account', async () => {
  const { svcCardId } = payloadOf(await createCard(issuer, partner))
  const other = await newPartner(service)
  const others = await asPartner(service.client, other)
  expect(await recordOf(svcCardId)).toMatchObject(UNSET)
  expect(payloadOf(await issuer.patch(account, SETTINGS))).toMatchObject(SETTINGS)
  expect(payloadOf(await issuer.get(account))).toMatchObject(SETTINGS)
  expect(await recordOf(svcCardId)).toMatchObject(SETTINGS)
  const fresh = payloadOf(await createCard(issuer, partner))
  expect(fresh).toMatchObject(SETTINGS)
  expect(payloadOf(await createCard(others, other))).toMatchObject(UNSET)
  const { companyId, cardAccountId } = partner
  const search = { companyId, cardAccountId, svcCardId }
  const found = payloadOf(await issuer.post('/api/v0/partner/svcCard/search', search)).data
  expect(found).toMatchObject([SETTINGS])
})

test('a field that is absent stays as it is, and null unsets one', async () => {
  payloadOf(await issuer.patch(account, SETTINGS))
  const { svcCardId } = payloadOf(await createCard(issuer, partner))
  payloadOf(await issuer.patch(account, { tncUrl: null, cardKitMasterId: null }))
  expect(await recordOf(svcCardId)).toMatchObject({ ...SETTINGS, tncUrl: '', cardKitMasterId: 0 })
  expect(payloadOf(await issuer.get(account))).not.toHaveProperty('tncUrl')
})

test.each([
  ['svcSupportEmail', 'help'],
  ['svcSupportMobile', '12345'],
  ['partnerLogo', 'http://acme.example/logo.svg'],
  ['defaultCardImage', 'javascript:alert(1)'],
  ['tncUrl', 'https://acme.example/the terms'],
  ['tncVersionMasterId', 'two words'],
  ['extEntityId', 'x'.repeat(65)],
  ['cardKitMasterId', -1],
])('%s is refused where it is %j, by its name', async (name, value) => {
  const refused = await issuer.patch(account, { [name]: value })
  expectFailure(refused, 'validation_failed')
  expect(refused.errorDescription).toContain(name)
})

test('operators set the same in the console and on the command line', async () => {
  const operations = await signedIn(service, 'operations')
  const { svcCardId } = payloadOf(await createCard(issuer, partner))
  const inConsole = { extEntityId: 'BY-CONSOLE' }
  const path = `/card-accounts/${partner.cardAccountId}`
  expect((await operations.send('PATCH', path, inConsole)).json).toMatchObject(inConsole)
  const sets = ['svcSupportMobile=9000000000', 'cardKitMasterId=7', 'tncUrl=', 'lowBalance=250.50']
  const changed = await done(
    'card-account',
    'update',
    partner.cardAccountId,
    ...sets.flatMap((set) => ['--set', set]),
  )
  expect(changed).toMatchObject({ svcSupportMobile: '9000000000', cardKitMasterId: 7, lowBalance: 250.5 })
  expect(await recordOf(svcCardId)).toMatchObject({
    ...inConsole,
    svcSupportMobile: '9000000000',
    cardKitMasterId: 7,
    tncUrl: '',
  })
  const wrong = async (set: string) =>
    (await svc('card-account', 'update', partner.cardAccountId, '--set', set)).stderr
  expect(await wrong('svcSupportMobile=1')).toContain('svcSupportMobile must be exactly 10 digits')
  expect(await wrong('colour=red')).toContain('must be a field and its value')
  expect(await wrong('unallocateFundAllowed=true')).toContain('money of gift cards is never taken back')
})
