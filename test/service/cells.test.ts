import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner, partnerToken } from '../harness/partner.ts'
import { newCode } from '../harness/qr-codes.ts'
import {
  asSuperuser,
  MASTER_KEY,
  newDatabase,
  openService,
  type TestDatabase,
  type TestService,
} from '../harness/service.ts'

let first: TestDatabase
let second: TestDatabase
const services: TestService[] = []

const settings = (db: TestDatabase) => ({
  DATABASE_URL: db.url,
  SVC_MASTER_KEY: MASTER_KEY,
  CELL_DATABASE_URLS: `a=${first.url} b=${second.url}`,
})

beforeAll(async () => {
  first = await newDatabase()
  second = await newDatabase({ keys: false })
})
afterAll(() => Promise.all(services.map((service) => service.close())))

const open = async (db: TestDatabase): Promise<TestService> => {
  const service = await openService({ db })
  services.push(service)
  return service
}

/** One of each kind of thing that a cell issues. */
async function issued(service: TestService) {
  const merchant = await service.newMerchant()
  const partner = await newPartner(service)
  const { tr } = await newCode(service, await service.as(merchant))
  const client = await asPartner(service.client, partner)
  const { maskedNumber } = payloadOf(await createCard(client, partner, { loadAmount: 1 }))
  const path = `/api/v0/partner/card-accounts/${partner.cardAccountId}/funding-instructions`
  const { virtualAccountNumber } = payloadOf(await client.get(path))
  const { clientId } = partner
  return {
    merchant,
    partner,
    maskedNumber,
    forms: { key: merchant.apiKey, clientId, tr, virtualAccountNumber },
  }
}

const name = (letter: string, range: string) =>
  runHere(['admin', 'cell', 'name', letter, '--card-range', range], settings(first))
const create = (letter: string, range: string, db = second) =>
  runHere(['admin', 'cell', 'create', letter, '--from', 'a', '--card-range', range], settings(db))

test('an installation without cells issues ids as before; once it is a cell, they contain its letter, and old ones stay valid', async () => {
  const service = await open(first)
  const before = await issued(service)
  expect(before.forms).toEqual({
    key: expect.stringMatching(/^svc_test_[0-9a-z]{32}_[0-9a-z]{6}$/),
    clientId: expect.stringMatching(/^cli_[0-9a-z]{26}$/),
    tr: expect.stringMatching(/^SVC[0-9][0-9A-Z]{25}$/),
    virtualAccountNumber: expect.stringMatching(/^SVCP\d{12}$/),
  })

  expect(await name('a', '88880101')).toMatchObject({ code: 0, stderr: '' })
  await service.app.services.keyring.refresh()
  const after = await issued(service)
  expect(after.forms).toEqual({
    key: expect.stringMatching(/^svc_test_a_[0-9a-z]{32}_[0-9a-z]{6}$/),
    clientId: expect.stringMatching(/^cli_a_[0-9a-z]{26}$/),
    tr: expect.stringMatching(/^SVCA[0-9][0-9A-Z]{25}$/),
    virtualAccountNumber: expect.stringMatching(/^SVCPA\d{12}$/),
  })
  expect([before.maskedNumber.slice(0, 6), after.maskedNumber.slice(0, 6)]).toEqual(['999912', '888801'])
  await service.as(before.merchant)
  expect((await partnerToken(service.client, before.partner)).status).toBe(200)

  expect((await name('a', '88880101')).code).toBe(0)
  expect((await name('b', '88880102')).stderr).toContain('This database is the cell a already')
})

test('a cell begins on an empty database, with the keys of the first, and with a card range without cards', async () => {
  expect((await create('b', '888801')).stderr).toContain('overlaps that of the cell a')
  expect((await create('b', '99991202')).stderr).toContain(
    'Cards with numbers from 999912 were issued before',
  )
  expect((await create('b', '88880102', await newDatabase())).stderr).toContain('The database is in use')
  const bare = await newDatabase({ keys: false })
  const fromBare = { ...settings(second), CELL_DATABASE_URLS: `c=${bare.url}` }
  await runHere(['admin', 'cell', 'name', 'c', '--card-range', '88880103'], settings(bare))
  const beside = ['admin', 'cell', 'create', 'b', '--from', 'c', '--card-range', '88880102']
  expect((await runHere(beside, fromBare)).stderr).toContain('The first cell has no keys so far')
  expect(await create('b', '88880102')).toMatchObject({ code: 0, stderr: '' })
  expect(await create('b', '88880102')).toMatchObject({ code: 0, stderr: '' })

  const keys = (db: TestDatabase) =>
    asSuperuser(db.database, async (client) => {
      const { rows } = await client.query('select key_id, purpose, wrapped from svc.keyring order by key_id')
      return rows
    })
  expect(await keys(second)).toEqual(await keys(first))
  const { stdout } = await runHere(['admin', 'cell', 'list', '--json'], settings(first))
  expect(JSON.parse(stdout)).toMatchObject([
    { cell: 'a', cardRange: '88880101' },
    { cell: 'b', cardRange: '88880102' },
  ])
  const { forms } = await issued(await open(second))
  expect(forms.key).toMatch(/^svc_test_b_/)
})
