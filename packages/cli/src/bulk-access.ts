import { createSecretKey } from 'node:crypto'
import { readConfig } from '@svc/contract/config'
import type { JweKey } from '@svc/jwe/keys'
import type { DemoPartner } from '@svc/server/sandbox/sandbox-file'
import { DEMO_PARTNER_NAMES, readSandboxFile, sandboxFile } from '@svc/server/sandbox/sandbox-file'
import type { Command } from 'commander'
import type { BulkAccess } from './bulk-client.ts'
import { requireEncryptedWay } from './encrypted-way.ts'
import { parseJsonText, readText } from './read-text.ts'
import { UsageError } from './usage-error.ts'

export interface AccessOptions {
  readonly sandbox?: boolean
  readonly key?: string
  readonly partner?: string
  readonly url?: string
}

/** Where the service is, and as whom a file is sent. */
export interface BulkPartner extends BulkAccess {
  readonly sharedKey: JweKey
  readonly companyId?: string | undefined
  readonly cardAccountId?: string | undefined
}

/** The options of `accessOf`. */
export const withAccess = (command: Command): Command =>
  command
    .option('--sandbox', 'as a demo partner of the sandbox, from sandbox.json in DATA_DIR')
    .option('--key <file>', 'as the partner of this JSON file, which looks like a partner in sandbox.json')
    .option('--partner <nameOrId>', 'which partner of sandbox.json; incentivePartner by default')
    .option('--url <url>', 'address of the service; by default as the file has it')

export async function accessOf({ sandbox = false, key, partner, url }: AccessOptions): Promise<BulkPartner> {
  if ((key === undefined) === !(sandbox || partner !== undefined))
    throw new UsageError('Give --key <file>, or --sandbox (with --partner to choose one of its partners).')
  const found = key === undefined ? await sandboxPartner(partner) : await partnerInFile(key)
  const baseUrl = (url ?? found.baseUrl)?.replace(/(?<!\/)\/+$/, '')
  if (baseUrl === undefined || !URL.canParse(baseUrl))
    throw new UsageError('Give the address of the service: --url <url>')
  requireEncryptedWay(new URL(baseUrl))
  const { kid, k } = found.sharedKey
  return {
    ...found,
    baseUrl,
    sharedKey: { kid, alg: 'A256KW', enc: 'A256GCM', key: createSecretKey(Buffer.from(k, 'base64url')) },
  }
}

type Found = Omit<DemoPartner, 'userId' | 'companyId' | 'cardAccountId'> &
  Partial<Pick<DemoPartner, 'companyId' | 'cardAccountId'>> & { readonly baseUrl?: string }

async function sandboxPartner(wanted = 'incentivePartner'): Promise<Found> {
  const { DATA_DIR } = readConfig(process.env)
  const known = await readSandboxFile(DATA_DIR)
  if (!known)
    throw new UsageError(`There is no ${sandboxFile(DATA_DIR)}. Start the sandbox once with: svc serve`)
  const names = DEMO_PARTNER_NAMES
  const name = names.find((each) => each === wanted || known[each].partnerId === wanted)
  if (!name) throw new UsageError(`--partner must be one of ${names.join(', ')}, or the id of one`)
  return { baseUrl: known.baseUrl, ...known[name] }
}

const PARTNER_FILE =
  'a JSON file with partnerId, clientId, clientSecret and sharedKey {kid, k}, like a partner in sandbox.json'

async function partnerInFile(file: string): Promise<Found> {
  const found = parseJsonText(await readText(file, PARTNER_FILE), PARTNER_FILE) as Partial<Found> | null
  const texts = [
    found?.partnerId,
    found?.clientId,
    found?.clientSecret,
    found?.sharedKey?.kid,
    found?.sharedKey?.k,
  ]
  if (!texts.every((text) => typeof text === 'string')) throw new UsageError(`${file} is not ${PARTNER_FILE}`)
  if (Buffer.from(found!.sharedKey!.k, 'base64url').length !== 32)
    throw new UsageError(`${file}: sharedKey.k must be 32 bytes in base64url`)
  return found as Found
}
