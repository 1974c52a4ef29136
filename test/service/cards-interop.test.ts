import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { registerPublicKey } from '@svc/core/tenants/jwe-keys'
import { newJweKeyPair, publicJwk } from '@svc/jwe/keys'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { asPartner, CREATE, JOSE, newPartner, type TestPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

const runs = (command: string, args: string[]) => spawnSync(command, args, { stdio: 'ignore' }).status === 0
// Debian's own interpreter sees Debian's packages; one that comes first in PATH may not.
const python = ['/usr/bin/python3', 'python3'].find((name) => runs(name, ['-c', 'import jwcrypto.jwe']))
const joseCommand = runs('jose', ['alg', '-k', 'wrap'])

let service: TestService
let scratch: string

beforeAll(async () => {
  service = await openService()
  scratch = await mkdtemp(join(tmpdir(), 'svc-interop-'))
})
afterAll(async () => {
  await service.close()
  await rm(scratch, { recursive: true, force: true })
})

function run(command: string, args: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, { timeout: 30_000 }, (error, stdout, stderr) =>
      error ? reject(new Error(stderr, { cause: error })) : resolve(stdout),
    )
    child.stdin?.end(input)
  })
}

const PYTHON_JWE = `
import json, sys
from jwcrypto import jwe, jwk
order = json.load(sys.stdin)
token = jwe.JWE(order["text"].encode(), protected=json.dumps(order["header"]))
token.add_recipient(jwk.JWK(**order["jwk"]))
print(token.serialize(compact=True), end="")`
const PYTHON_OPEN = `
import json, sys
from jwcrypto import jwe, jwk
order = json.load(sys.stdin)
token = jwe.JWE(algs=[order["header"]["alg"], "A256GCM"])
token.deserialize(order["text"], jwk.JWK(**order["jwk"]))
print(token.payload.decode(), end="")`

interface Work {
  readonly jwk: Json
  readonly header: object
  readonly text: string
}
interface Tool {
  encrypt(work: Work): Promise<string>
  open(work: Work): Promise<string>
}

const jwcrypto: Tool = {
  encrypt: (work) => run(python!, ['-c', PYTHON_JWE], JSON.stringify(work)),
  open: (work) => run(python!, ['-c', PYTHON_OPEN], JSON.stringify(work)),
}
const keyFile = async (jwk: Json) => {
  const file = join(scratch, 'key.jwk')
  await writeFile(file, JSON.stringify(jwk))
  return file
}
const joseTool: Tool = {
  async encrypt({ jwk, header, text }) {
    const template = JSON.stringify({ protected: header })
    return run('jose', ['jwe', 'enc', '-I-', '-k', await keyFile(jwk), '-i', template, '-c'], text)
  },
  open: async ({ jwk, text }) => run('jose', ['jwe', 'dec', '-i-', '-k', await keyFile(jwk)], text),
}

/** One card for an order that the tool encrypted; its encrypted answer, opened by the tool, says what the plain one says. */
async function exchange(tool: Tool, kind: 'shared' | 'P-256' | 'X25519' | 'RSA'): Promise<void> {
  const partner = await newPartner(service)
  const client = await asPartner(service.client, partner)
  const { encryption, responding } = kind === 'shared' ? sharedJwks(partner) : await pairJwks(partner, kind)
  const alg = { shared: 'A256KW', RSA: 'RSA-OAEP-256', 'P-256': 'ECDH-ES+A256KW', X25519: 'ECDH-ES+A256KW' }[
    kind
  ]
  const header = { alg, enc: 'A256GCM', kid: encryption.kid }
  const { companyId, cardAccountId } = partner
  const text = JSON.stringify({ companyId, cardAccountId, firstName: 'अनीता', mobile: '9876543210' })
  const encrypted = await tool.encrypt({ jwk: encryption, header, text })
  const plain = await send(client, encrypted)
  expect(payloadOf(plain)).toMatchObject({ firstName: 'अनीता', loadAmount: '500' })
  const response = await send(client, encrypted, { accept: 'application/jose' })
  expect(response.headers['content-type']).toBe('application/jose')
  expect(await tool.open({ jwk: responding, header, text: response.text })).toBe(plain.text)
}

const send = (client: Client, encrypted: string, headers = {}) =>
  client.send('POST', CREATE, encrypted, { ...JOSE, ...headers })

function sharedJwks({ sharedKey: { kid, key } }: TestPartner) {
  const jwk = { ...key.export({ format: 'jwk' }), kid, alg: 'A256KW' }
  return { encryption: jwk, responding: jwk }
}

async function pairJwks({ partnerId }: TestPartner, kind: 'P-256' | 'X25519' | 'RSA') {
  const { keys } = (await service.client.get('/.well-known/jwks.json')).json
  const encryption = keys.find((key: Json) => key.use === 'enc' && (key.crv ?? key.kty) === kind)
  const { publicKey, privateKey } = newJweKeyPair(kind)
  const registered = publicJwk('mine', encryption.alg, publicKey)
  await service.app.services.database.operate((tx) => registerPublicKey(tx, partnerId, registered))
  return { encryption, responding: privateKey.export({ format: 'jwk' }) }
}

describe.skipIf(!python)('python3-jwcrypto (skipped without the Debian package python3-jwcrypto)', () => {
  test.each(['shared', 'P-256', 'X25519', 'RSA'] as const)(
    'encrypts an order that the service accepts and decrypts its encrypted response, key: %s',
    (kind) => exchange(jwcrypto, kind),
  )
})

describe.skipIf(!joseCommand)('the jose command (skipped without the Debian package jose)', () => {
  // Version 11 has neither X25519 nor, with OpenSSL 3, RSA-OAEP-256.
  test.each(['shared', 'P-256'] as const)(
    'encrypts an order that the service accepts and decrypts its encrypted response, key: %s',
    (kind) => exchange(joseTool, kind),
  )
})
