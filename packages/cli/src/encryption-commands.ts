import { createPublicKey } from 'node:crypto'
import { readConfig } from '@svc/contract/config'
import { decryptJwe, encrypt } from '@svc/jwe/jwe'
import { DecryptionFailed } from '@svc/jwe/jwe-error'
import { isJweAlgorithm, type JweAlgorithm, type JweKey, keyFromJwk, UnusableJweKey } from '@svc/jwe/keys'
import { parseStrictJson, withoutByteOrderMark } from '@svc/kernel/strict-json'
import { DEMO_PARTNER_NAMES, readSandboxFile, sandboxFile } from '@svc/server/sandbox/sandbox-file'
import type { Command } from 'commander'
import { printJson } from './print.ts'
import { parseJsonText, readText } from './read-text.ts'
import { UsageError } from './usage-error.ts'

type Jwk = Readonly<Record<string, unknown>>

interface KeyOptions {
  readonly key?: string
  readonly sandbox?: boolean
  readonly partner: string
  readonly alg?: string
  readonly json?: boolean
}

const withKeyOptions = (command: Command): Command =>
  command
    .option('--key <file>', 'JWK, or a JWK set such as /.well-known/jwks.json')
    .option('--sandbox', 'take the keys of the sandbox’s demo partner, from sandbox.json in DATA_DIR')
    .option('--partner <name>', `which one: ${DEMO_PARTNER_NAMES.join(', ')}`, DEMO_PARTNER_NAMES[0])
    .option('--json', 'print JSON')

export function addEncryptionCommands(program: Command): void {
  withKeyOptions(
    program
      .command('encrypt [file]')
      .description('encrypt a JSON object (from a file or standard input) as a compact JWE'),
  )
    .option('--alg <alg>', 'A256KW, ECDH-ES+A256KW or RSA-OAEP-256; by default what the key is for')
    .addHelpText(
      'after',
      `
Examples:
  svc encrypt order.json --key shared.jwk                          with the key shared with the service
  svc encrypt order.json --key jwks.json --alg RSA-OAEP-256        to one of the service's published keys
  echo '{"companyId":"com_…"}' | svc encrypt --sandbox             with the demo partner's shared key
  svc encrypt order.json --sandbox --alg ECDH-ES+A256KW            to the running sandbox's published key`,
    )
    .action(encryptText)
  withKeyOptions(
    program
      .command('decrypt [file]')
      .description('decrypt a compact JWE (from a file or standard input), or say precisely why not'),
  )
    .addHelpText(
      'after',
      `
Examples:
  svc decrypt response.jwe --key shared.jwk
  curl -s … -H 'Accept: application/jose' | svc decrypt --sandbox`,
    )
    .action(decryptText)
}

async function encryptText(file: string | undefined, options: KeyOptions): Promise<void> {
  const plain = withoutByteOrderMark(Buffer.from(await readText(file, 'a JSON object')))
  const body = strictJson(plain)
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new UsageError('The input must be a JSON object.')
  const alg = readAlgorithm(options.alg)
  const key = chooseKey(await jwksOf(options, alg), alg)
  const jwe = await encrypt(plain, key)
  if (options.json) printJson({ jwe, kid: key.kid, alg: key.alg, enc: key.enc })
  else process.stdout.write(`${jwe}\n`)
}

/** The very reader of the service, so that what is encrypted here is not refused there. */
function strictJson(bytes: Buffer): unknown {
  try {
    return parseStrictJson(bytes)
  } catch (error) {
    throw new UsageError(
      `This is not JSON as the service takes it. ${error instanceof Error ? error.message : ''}`,
    )
  }
}

function readAlgorithm(alg: string | undefined): JweAlgorithm | undefined {
  if (alg === undefined || isJweAlgorithm(alg)) return alg
  throw new UsageError('--alg must be A256KW, ECDH-ES+A256KW or RSA-OAEP-256')
}

/** Keys out of a file, or of the sandbox: the demo partner's own, and for other algorithms the published ones. */
async function jwksOf(options: KeyOptions, alg: JweAlgorithm | undefined): Promise<Jwk[]> {
  const { key, sandbox = false } = options
  if ((key === undefined) === !sandbox) throw new UsageError('Give --key <file> or --sandbox: one of them.')
  if (key !== undefined) return keysIn(parseJsonText(await readText(key, 'a JWK'), 'a JWK'))
  const { DATA_DIR } = readConfig(process.env)
  const known = await readSandboxFile(DATA_DIR)
  if (!known)
    throw new UsageError(`There is no ${sandboxFile(DATA_DIR)}. Start the sandbox once with: svc serve`)
  const partner = DEMO_PARTNER_NAMES.find((name) => name === options.partner)
  if (!partner) throw new UsageError(`--partner must be one of ${DEMO_PARTNER_NAMES.join(', ')}`)
  if (alg === undefined || alg === 'A256KW') return [{ ...known[partner].sharedKey, kty: 'oct' }]
  return publishedKeys(known.baseUrl)
}

async function publishedKeys(baseUrl: string): Promise<Jwk[]> {
  try {
    return keysIn(await (await fetch(`${baseUrl}/.well-known/jwks.json`)).json())
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(
      `The sandbox at ${baseUrl} does not respond, and its published keys are needed. Start it with: svc serve`,
    )
  }
}

function keysIn(value: unknown): Jwk[] {
  const set = typeof value === 'object' && value !== null && 'keys' in value ? value.keys : [value]
  if (!Array.isArray(set)) throw new UsageError('The keys of a JWK set must be a list.')
  // A shared key as `sandbox.json` and `svc admin partner key issue-shared` print it may go without its kty.
  return set.map((jwk: Jwk) =>
    typeof jwk === 'object' && jwk !== null && 'k' in jwk ? { kty: 'oct', ...jwk } : jwk,
  )
}

function chooseKey(jwks: readonly Jwk[], alg: JweAlgorithm | undefined): JweKey {
  const encryption = jwks.length === 1 ? jwks : jwks.filter((jwk) => jwk['use'] !== 'sig')
  const keys = encryption.map((jwk) => readKey(jwk))
  const fit = keys.find((key) => alg === undefined || key.alg === alg)
  if (!fit)
    throw new UsageError(
      `None of the keys is for ${alg ?? 'encryption'}; they are for ${keys.map((key) => key.alg).join(', ') || 'nothing'}.`,
    )
  // Who holds the private half may encrypt to its public half.
  return fit.key.type === 'private' ? { ...fit, key: createPublicKey(fit.key) } : fit
}

function readKey(jwk: Jwk): JweKey {
  const kind = jwk?.['kty'] === 'oct' ? 'secret' : 'd' in (jwk ?? {}) ? 'private' : 'public'
  try {
    return keyFromJwk(jwk, kind)
  } catch (error) {
    if (error instanceof UnusableJweKey) throw new UsageError(`This JWK cannot serve. ${error.message}.`)
    throw error
  }
}

async function decryptText(file: string | undefined, options: KeyOptions): Promise<void> {
  const given = (await readText(file, 'a compact JWE')).trim()
  // Requests carry the JWE as a JSON string, so either form is taken.
  const jwe = given.startsWith('"') ? String(parseJsonText(given, 'a compact JWE')) : given
  const keys = (await jwksOf(options, 'A256KW')).map(readKey).filter(({ key }) => key.type !== 'public')
  if (keys.length === 0)
    throw new UsageError('A public key cannot decrypt. Give the shared key, or the private half.')
  try {
    const { plaintext, kid, alg } = await decryptJwe(jwe, (wanted) => keys.find((key) => key.kid === wanted))
    if (options.json) printJson({ kid, alg, body: strictJson(withoutByteOrderMark(plaintext)) })
    else process.stdout.write(`${plaintext.toString('utf8')}\n`)
  } catch (error) {
    if (!(error instanceof DecryptionFailed)) throw error
    const { reason, kid } = error
    const held =
      reason === 'unknown_kid'
        ? ` It names ${kid}; the key here is ${keys.map((key) => key.kid).join(', ')}.`
        : ''
    throw new UsageError(`Not decrypted (${reason}). ${error.message}.${held}`)
  }
}
