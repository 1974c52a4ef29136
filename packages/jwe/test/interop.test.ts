import { execFile, spawnSync } from 'node:child_process'
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decryptJwe, encrypt } from '@svc/jwe/jwe'
import { type JweKey, newJweKeyPair } from '@svc/jwe/keys'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const runs = (command: string, args: string[]) => spawnSync(command, args, { stdio: 'ignore' }).status === 0
// Debian's own interpreter sees Debian's packages; one that comes first in PATH may not.
const python = ['/usr/bin/python3', 'python3'].find((name) => runs(name, ['-c', 'import jwcrypto.jwe']))
const joseCommand = runs('jose', ['alg', '-k', 'wrap'])

const secret = createSecretKey(randomBytes(32))
const shared = { publicKey: secret, privateKey: secret }
const kinds = [
  ['A256KW', 'shared secret', shared],
  ['ECDH-ES+A256KW', 'P-256', newJweKeyPair('P-256')],
  ['ECDH-ES+A256KW', 'X25519', newJweKeyPair('X25519')],
  ['RSA-OAEP-256', 'RSA', newJweKeyPair('RSA')],
] as const
/** Debian's `jose` 11 has neither X25519 nor, with OpenSSL 3, RSA-OAEP-256. */
const kindsOfJoseCommand = kinds.slice(0, 2)

const plaintexts = [
  '{"loadAmount":"500"}',
  '{}',
  JSON.stringify({ name: 'अनीता 🍵', more: 'x'.repeat(20_000) }),
]
const jweKey = (alg: JweKey['alg'], key: KeyObject): JweKey => ({ kid: 'key-1', alg, enc: 'A256GCM', key })
const jwk = (key: KeyObject) => JSON.stringify(key.export({ format: 'jwk' }))

function run(command: string, args: string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, { timeout: 30_000 }, (error, stdout, stderr) =>
      error ? reject(new Error(stderr, { cause: error })) : resolve(stdout),
    )
    child.stdin?.end(input)
  })
}

/** Reads {jwk, alg, texts} and answers a list: encrypted texts, or the decrypted ones. */
const PYTHON = {
  encrypt: `
import json, sys
from jwcrypto import jwe, jwk
order = json.load(sys.stdin)
key = jwk.JWK.from_json(order["jwk"])
def encrypt(text):
    token = jwe.JWE(text.encode(), protected=json.dumps({"alg": order["alg"], "enc": "A256GCM", "kid": "key-1"}))
    token.add_recipient(key)
    return token.serialize(compact=True)
print(json.dumps([encrypt(text) for text in order["texts"]]))`,
  open: `
import json, sys
from jwcrypto import jwe, jwk
order = json.load(sys.stdin)
key = jwk.JWK.from_json(order["jwk"])
def open_(text):
    token = jwe.JWE(algs=[order["alg"], "A256GCM"])
    token.deserialize(text, key)
    return token.payload.decode()
print(json.dumps([open_(text) for text in order["texts"]]))`,
}

describe.skipIf(!python)('python3-jwcrypto (skipped without the Debian package python3-jwcrypto)', () => {
  const runPython = async (what: keyof typeof PYTHON, alg: string, key: KeyObject, texts: string[]) =>
    JSON.parse(
      await run(python!, ['-c', PYTHON[what]], JSON.stringify({ jwk: jwk(key), alg, texts })),
    ) as string[]

  test.each(kinds)(
    '%s with a %s key: it decrypts what the package encrypts',
    async (alg, _kind, { publicKey, privateKey }) => {
      const jwes = await Promise.all(
        plaintexts.map((text) => encrypt(Buffer.from(text), jweKey(alg, publicKey))),
      )
      expect(await runPython('open', alg, privateKey, jwes)).toEqual(plaintexts)
    },
  )

  test.each(kinds)(
    '%s with a %s key: the package decrypts what it encrypts',
    async (alg, _kind, { publicKey, privateKey }) => {
      const jwes = await runPython('encrypt', alg, publicKey, plaintexts)
      const opened = await Promise.all(jwes.map((text) => decryptJwe(text, () => jweKey(alg, privateKey))))
      expect(opened.map(({ plaintext }) => plaintext.toString())).toEqual(plaintexts)
    },
  )
})

describe.skipIf(!joseCommand)('the jose command (skipped without the Debian package jose)', () => {
  let directory: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'jwe-interop-'))
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))

  const keyFile = async (key: KeyObject) => {
    const path = join(directory, `${randomBytes(6).toString('hex')}.jwk`)
    await writeFile(path, jwk(key), { mode: 0o600 })
    return path
  }

  test.each(kindsOfJoseCommand)(
    '%s with a %s key: it decrypts what the package encrypts',
    async (alg, _kind, { publicKey, privateKey }) => {
      const key = await keyFile(privateKey)
      for (const text of plaintexts) {
        const encrypted = await encrypt(Buffer.from(text), jweKey(alg, publicKey))
        expect(await run('jose', ['jwe', 'dec', '-i', '-', '-k', key], encrypted)).toBe(text)
      }
    },
  )

  test.each(kindsOfJoseCommand)(
    '%s with a %s key: the package decrypts what it encrypts',
    async (alg, _kind, { publicKey, privateKey }) => {
      const key = await keyFile(publicKey)
      const template = JSON.stringify({ protected: { alg, enc: 'A256GCM', kid: 'key-1' } })
      for (const text of plaintexts) {
        const encrypted = await run('jose', ['jwe', 'enc', '-i', template, '-I', '-', '-k', key, '-c'], text)
        const opened = await decryptJwe(encrypted.trim(), () => jweKey(alg, privateKey))
        expect(opened.plaintext.toString()).toBe(text)
      }
    },
  )
})
