import { readFile, rm } from 'node:fs/promises'
import { keyMaker } from '@svc/app/serve-until'
import { startClosing } from '@svc/console-api/tenant-closing'
import { findFundedAccount } from '@svc/core/cards/card/list-onboarded'
import { setMerchantDisabled } from '@svc/core/tenants/merchant'
import { setTenantDisabled } from '@svc/core/tenants/tenant'
import { approval, type ListedApproval } from '@svc/server/approvals/approval-record'
import { readRows } from '@svc/server/http/resource'
import { prepareDemo } from '@svc/server/sandbox/demo'
import { type SandboxFile, sandboxFile } from '@svc/server/sandbox/sandbox-file'
import { CompactEncrypt, importJWK, type JWK } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { openSandbox, type SandboxService } from '../harness/conformance.ts'
import { CREATE, JOSE, partnerToken } from '../harness/partner.ts'
import { brokenIn } from '../harness/refunds.ts'
import { asSuperuser, tokenOf } from '../harness/service.ts'

let sandbox: SandboxService

beforeAll(async () => {
  sandbox = await openSandbox()
})
afterAll(() => sandbox.service.close())

const PARTNERS = ['incentivePartner', 'rewardsPartner', 'otherPartner'] as const
const fileOf = (): string => sandboxFile(sandbox.service.app.services.config.DATA_DIR)
const read = async (): Promise<SandboxFile> => JSON.parse(await readFile(fileOf(), 'utf8'))

test.each(PARTNERS)(
  'the shared key of %s is a JWK that jose imports unchanged and encrypts a request with',
  async (name) => {
    const { sharedKey, companyId, cardAccountId, partnerId, ...client } = (await read())[name]
    const { alg, enc, kid } = sharedKey
    const jwe = await new CompactEncrypt(Buffer.from(JSON.stringify({ companyId, cardAccountId })))
      .setProtectedHeader({ alg, enc, kid })
      .encrypt(await importJWK(sharedKey as JWK))
    const { access_token: token } = (await partnerToken(sandbox.service.client, client)).json
    const headers = { authorization: `Bearer ${token}`, partnerid: partnerId, ...JOSE }
    payloadOf(await sandbox.service.client.send('POST', CREATE, jwe, headers))
  },
)

test('a running sandbox serves what sandbox.json holds, with the address at which it was reached, and nothing keeps it', async () => {
  const { baseUrl: _, ...written } = await read()
  const { port } = new URL(sandbox.service.baseUrl)
  for (const host of ['localhost', '127.0.0.1']) {
    const response = await fetch(`http://${host}:${port}/sandbox/credentials`)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await response.json()).toEqual({ ...written, baseUrl: `http://${host}:${port}` })
  }
})

test('a sandbox with a limit of postings starts: its demo accounts are funded by two people, once', async () => {
  const { service } = await openSandbox({ APPROVAL_ABOVE_RUPEES: '1' })
  try {
    const { services } = service.app
    const maker = { keyring: services.keyring, random: services.random, mode: 'test' as const }
    const again = await prepareDemo(services, maker)
    for (const name of PARTNERS) {
      const { cardAccountId, partnerId } = again[name]
      const found = await services.database.operate((tx) => findFundedAccount(tx, cardAccountId))
      // Less what the demo cards were loaded with: funded twice, it would be above.
      const isOnce = found!.balancePaise > 9_000_000_00n && found!.balancePaise <= 10_000_000_00n
      expect([found!.partnerId, isOnce], name).toEqual([partnerId, true])
    }
    const { data } = await services.database.operate((tx) =>
      readRows<ListedApproval>(tx, approval, { reader: 'operator' }, {}),
    )
    expect(data).toHaveLength(PARTNERS.length)
    for (const { requestedBy, decidedBy } of data) expect(requestedBy).not.toBe(decidedBy)
    expect(await brokenIn(service)).toEqual([])
  } finally {
    await service.close()
  }
})

const MERCHANTS = ['merchant', 'otherMerchant'] as const

/** As the next start does; returns the file and what the start logged. */
async function startAgain({ service }: SandboxService): Promise<{ file: SandboxFile; logged: string }> {
  const before = service.logged().length
  const file = await prepareDemo(service.app.services, keyMaker(service.app))
  return { file, logged: service.logged().slice(before) }
}

const credentialsIn = async ({ service }: SandboxService): Promise<number> => {
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query<{ count: number }>(
      `select ((select count(*) from api_keys) + (select count(*) from oauth_clients)
         + (select count(*) from partner_encryption_keys))::int as count`,
    ),
  )
  return rows[0]!.count
}

test('a sandbox starts with every demo tenant disabled: entries stay, the log says how to enable them, and then they work', async () => {
  const own = await openSandbox()
  try {
    const { database } = own.service.app.services
    const { merchant, rewardsPartner } = own.sandbox
    const disable = (disabled: boolean) =>
      database.operate(async (tx) => {
        for (const who of MERCHANTS) await setMerchantDisabled(tx, own.sandbox[who].merchantId, disabled)
        for (const who of PARTNERS)
          await setTenantDisabled(tx, own.sandbox[who].partnerId, 'partner', disabled)
      })
    await disable(true)
    const credentials = await credentialsIn(own)
    const { file, logged } = await startAgain(own)
    expect(file).toEqual(own.sandbox)
    expect(await credentialsIn(own)).toBe(credentials)
    expect(logged.match(/ of sandbox\.json is disabled/g)).toHaveLength(5)
    expect(logged).toContain(`Run svc admin merchant enable ${merchant.merchantId} and start again`)
    expect(logged).toContain(`Run svc admin partner enable ${rewardsPartner.partnerId} and start again`)
    await disable(false)
    const enabled = await startAgain(own)
    expect([enabled.file, enabled.logged]).toEqual([own.sandbox, ''])
  } finally {
    await own.service.close()
  }
})

test('a sandbox starts with demo tenants that are closing, also without its file, and once enabled they get working keys', async () => {
  const own = await openSandbox()
  try {
    const { services } = own.service.app
    const { merchant, otherPartner } = own.sandbox
    const ids = [merchant.merchantId, otherPartner.partnerId]
    await services.database.operate(async (tx) => {
      for (const id of ids) await startClosing(tx, id, 'the contract ended')
    })
    const { file, logged } = await startAgain(own)
    expect(file).toEqual(own.sandbox)
    expect(logged.match(/ of sandbox\.json is closing or closed/g)).toHaveLength(2)
    await rm(sandboxFile(services.config.DATA_DIR))
    const bare = (await startAgain(own)).file
    expect(bare.merchant).toEqual({ ...merchant, apiKey: '' })
    expect(bare.otherPartner).toMatchObject({ partnerId: otherPartner.partnerId, clientSecret: '' })
    await services.database.operate(async (tx) => {
      await setMerchantDisabled(tx, merchant.merchantId, false)
      await setTenantDisabled(tx, otherPartner.partnerId, 'partner', false)
    })
    const again = await startAgain(own)
    expect(again.logged).toBe('')
    expect(await tokenOf(own.service.client, again.file.merchant.apiKey)).toBeTruthy()
    expect((await partnerToken(own.service.client, again.file.otherPartner)).status).toBe(200)
    expect(again.file.qrCodeId).toMatch(/^qr_/)
  } finally {
    await own.service.close()
  }
})
