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

const OF_PARTNER = '/api/v0/partner/record-settings'

test('a card account that states no setting has that of its partner, which it names; cards of other partners do not', async () => {
  const owner = await newPartner(service)
  const client = await asPartner(service.client, owner)
  const path = `/api/v0/partner/card-accounts/${owner.cardAccountId}`
  const shown = async (svcCardId: string): Promise<Json> =>
    payloadOf(await client.get(`/api/v0/partner/svcCard/${svcCardId}`))
  const { svcCardId } = payloadOf(await createCard(client, owner))
  expect(payloadOf(await client.get(OF_PARTNER))).toEqual({})
  expect(payloadOf(await client.get(path)).inheritedSettings).toEqual([])

  expect(payloadOf(await client.patch(OF_PARTNER, SETTINGS))).toEqual(SETTINGS)
  expect(await shown(svcCardId)).toMatchObject(SETTINGS)
  expect(payloadOf(await createCard(client, owner))).toMatchObject(SETTINGS)
  const inherited = payloadOf(await client.get(path))
  expect(inherited).toMatchObject(SETTINGS)
  expect(inherited.inheritedSettings.sort()).toEqual(Object.keys(SETTINGS).sort())

  const own = { tncUrl: 'https://acme.example/own', cardKitMasterId: 7 }
  const changed = payloadOf(await client.patch(path, own))
  expect(changed).toMatchObject({ ...SETTINGS, ...own })
  expect(changed.inheritedSettings).not.toContain('tncUrl')
  expect(changed.inheritedSettings).toHaveLength(Object.keys(SETTINGS).length - 2)
  expect(await shown(svcCardId)).toMatchObject({ ...SETTINGS, ...own })

  payloadOf(await client.patch(OF_PARTNER, { tncUrl: null, partnerLogo: null }))
  expect(await shown(svcCardId)).toMatchObject({ ...SETTINGS, ...own, partnerLogo: '' })
  payloadOf(await client.patch(path, { tncUrl: null, cardKitMasterId: null }))
  expect(await shown(svcCardId)).toMatchObject({ ...SETTINGS, tncUrl: '', partnerLogo: '' })
  const { companyId } = owner
  const opened = payloadOf(
    await client.post('/api/v0/partner/card-accounts', {
      companyId,
      product: 'incentive',
      accountType: 'GIFT',
      binType: 'GIFT',
      cardProgramme: 'Gifts',
      denomination: 100,
      extEntityId: 'OWN',
    }),
  )
  expect(opened).toMatchObject({ extEntityId: 'OWN', svcSupportEmail: SETTINGS.svcSupportEmail })
  expect(opened.inheritedSettings).not.toContain('extEntityId')

  const outsider = await newPartner(service)
  const others = await asPartner(service.client, outsider)
  expect(payloadOf(await createCard(others, outsider))).toMatchObject(UNSET)
})

test('two changes of a partner’s settings at once are both kept', async () => {
  const client = await asPartner(service.client, await newPartner(service))
  const changes = [{ extEntityId: 'ONE' }, { switchProvider: 'TWO' }, { cardKitMasterId: 3 }]
  for (const response of await Promise.all(changes.map((change) => client.patch(OF_PARTNER, change))))
    payloadOf(response)
  expect(payloadOf(await client.get(OF_PARTNER))).toEqual(Object.assign({}, ...changes))
})

test('operators see and set what a partner’s cards say in the console and on the command line, and a wrong value is named', async () => {
  const owner = await newPartner(service)
  const operations = await signedIn(service, 'operations')
  const path = `/partners/${owner.partnerId}/record-settings`
  const inConsole = { extEntityId: 'BY-CONSOLE', cardKitMasterId: 9 }
  expect((await operations.send('PATCH', path, inConsole)).json).toEqual(inConsole)
  expect((await operations.get(path)).json).toEqual(inConsole)
  expect((await operations.get('/partners/par_nobody/record-settings')).json.error).toBe('partner_not_found')
  const sets = ['--set', 'extEntityId=', '--set', 'svcSupportEmail=help@acme.example']
  const changed = { cardKitMasterId: 9, svcSupportEmail: 'help@acme.example' }
  expect(await done('partner', 'update', owner.partnerId, ...sets)).toEqual(changed)
  expect(await done('partner', 'settings', owner.partnerId)).toEqual(changed)
  const wrong = await svc('partner', 'update', owner.partnerId, '--set', 'tncUrl=acme')
  expect(wrong.stderr).toContain('tncUrl must be a URL with https')
  const client = await asPartner(service.client, owner)
  const refused = await client.patch(OF_PARTNER, { svcSupportMobile: '12' })
  expectFailure(refused, 'validation_failed')
  expect(refused.errorDescription).toContain('svcSupportMobile must be exactly 10 digits')
})
