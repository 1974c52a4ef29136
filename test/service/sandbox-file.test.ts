import { readFile } from 'node:fs/promises'
import { findFundedAccount } from '@svc/core/cards/list-onboarded'
import { listApprovals } from '@svc/core/ledger/approvals'
import { prepareDemo, type SandboxFile, sandboxFile } from '@svc/server/sandbox/demo'
import { CompactEncrypt, importJWK, type JWK } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { openSandbox, type SandboxService } from '../harness/conformance.ts'
import { CREATE, JOSE, partnerToken } from '../harness/partner.ts'
import { brokenIn } from '../harness/refunds.ts'

let sandbox: SandboxService

beforeAll(async () => {
  sandbox = await openSandbox()
})
afterAll(() => sandbox.service.close())

const PARTNERS = ['incentivePartner', 'rewardsPartner', 'otherPartner'] as const
const fileOf = (): string => sandboxFile(sandbox.service.app.services.config.DATA_DIR)
const read = async (): Promise<SandboxFile> => JSON.parse(await readFile(fileOf(), 'utf8'))

test.each(PARTNERS)(
  'the shared key of %s is a JWK that jose imports as it is and encrypts a request with',
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

test('a sandbox with a limit of postings starts: its demo accounts are funded by two persons, once', async () => {
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
    const approvals = await services.database.operate((tx) => listApprovals(tx, false, 10))
    expect(approvals).toHaveLength(PARTNERS.length)
    for (const { requestedBy, decidedBy } of approvals) expect(requestedBy).not.toBe(decidedBy)
    expect(await brokenIn(service)).toEqual([])
  } finally {
    await service.close()
  }
})
