import { readFile } from 'node:fs/promises'
import { type SandboxFile, sandboxFile } from '@svc/server/sandbox/demo'
import { CompactEncrypt, importJWK, type JWK } from 'jose'
import { afterAll, beforeAll, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { openSandbox, type SandboxService } from '../harness/conformance.ts'
import { CREATE, JOSE, partnerToken } from '../harness/partner.ts'

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
