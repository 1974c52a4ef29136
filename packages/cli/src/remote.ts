import { readConfig } from '@svc/contract/config'
import { readSandboxFile } from '@svc/server/sandbox/sandbox-file'
import type { Command } from 'commander'
import { printJson, printRecord, printRows } from './print.ts'
import { configFolder, findProfile, type Profile, readProfiles } from './profile-store.ts'
import { type ApiPath, TenantSession } from './tenant-session.ts'
import { UsageError } from './usage-error.ts'

export interface RemoteOptions {
  readonly profile?: string
  readonly json?: boolean
}

/** A command that calls the server of a profile. */
export const remote = (command: Command): Command =>
  command
    .option('--profile <name>', 'the profile; by default SVC_PROFILE, or the current one')
    .option('--json', 'print JSON, also for errors')

/** Whose commands they are: a tenant of the other kind has no such records. */
export type TenantKind = 'merchant' | 'partner'

/** Whose a command is right after the start of a sandbox, before the first sign-in. */
const DEMO = { merchant: 'merchant', partner: 'incentivePartner' } as const

/**
 * The tenant of the profile; with none kept, a demo tenant of the sandbox whose file is here. `folder` is where commands
 * keep what they remember of it.
 */
export async function findTenant(
  options: RemoteOptions,
  demoKind: TenantKind = 'merchant',
): Promise<Profile & { readonly name: string; readonly folder: string }> {
  const demo = await demoProfile(options, demoKind)
  if (demo) return { ...demo, folder: readConfig(process.env).DATA_DIR }
  return { ...(await findProfile(process.env, options.profile)), folder: configFolder(process.env) }
}

/**
 * Signed in as the tenant that `findTenant` finds.
 *
 * @throws UsageError where the command is of the other kind of tenant, before anything is sent
 */
export async function openProfile(
  options: RemoteOptions,
  kind?: TenantKind,
  demoKind: TenantKind = kind ?? 'merchant',
): Promise<TenantSession> {
  const { baseUrl, credentials, name } = await findTenant(options, demoKind)
  const found = 'apiKey' in credentials ? 'merchant' : 'partner'
  if (kind !== undefined && kind !== found)
    throw new UsageError(
      `This command is for a ${kind}, and the profile ${name} is a ${found}'s. Choose another one with --profile (list them: svc profiles), or sign in as a ${kind}: svc login --profile <name>${kind === 'partner' ? ' --partner' : ''}`,
    )
  return new TenantSession(baseUrl, credentials)
}

async function demoProfile(
  { profile, json }: RemoteOptions,
  kind: TenantKind,
): Promise<(Profile & { readonly name: string }) | undefined> {
  const isChosen = profile !== undefined || process.env['SVC_PROFILE'] !== undefined
  if (isChosen || Object.keys((await readProfiles(process.env)).profiles).length > 0) return undefined
  const sandbox = await readSandboxFile(readConfig(process.env).DATA_DIR)
  if (!sandbox) return undefined
  const name = DEMO[kind]
  if (!json)
    process.stderr.write(`No profile: as the demo tenant ${name} of the sandbox at ${sandbox.baseUrl}\n`)
  return { baseUrl: sandbox.baseUrl, credentials: sandbox[name], name }
}

/** Path and query; parameters that are undefined are left out. */
export function pathWith(
  path: ApiPath,
  query: Readonly<Record<string, string | number | undefined>>,
): ApiPath {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const text = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  return text === '' ? path : `${path}?${text}`
}

type Row = Record<string, string | number | boolean | null | undefined>

/** A record with what is not a single value as JSON, without images. */
export function flat(record: object): Row {
  const fields = Object.entries(record).filter(([name]) => name !== 'qrCodeBase64')
  return Object.fromEntries(
    fields.map(([name, value]) => [
      name,
      value !== null && typeof value === 'object' ? JSON.stringify(value) : (value as Row[string]),
    ]),
  )
}

/** Prints a record or a list. */
export function show(found: object | readonly object[], { json }: RemoteOptions): void {
  if (json) return printJson(found)
  if (Array.isArray(found)) printRows((found as readonly object[]).map(flat), false)
  else printRecord(flat(found), false)
}
