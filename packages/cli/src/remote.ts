import type { Command } from 'commander'
import { findProfile } from './profile-store.ts'
import { type ApiPath, TenantSession } from './tenant-session.ts'

export interface RemoteOptions {
  readonly profile?: string
  readonly json?: boolean
}

/** A command that calls the server of a profile. */
export const remote = (command: Command): Command =>
  command
    .option('--profile <name>', 'the profile; by default SVC_PROFILE, or the current one')
    .option('--json', 'print JSON, also for errors')

/** Signed in as the tenant of the profile. */
export async function openProfile({ profile }: RemoteOptions): Promise<TenantSession> {
  const { baseUrl, credentials } = await findProfile(process.env, profile)
  return new TenantSession(baseUrl, credentials)
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
