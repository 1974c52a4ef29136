import { readFile, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { writeWhole } from '@svc/platform/write-whole'
import type { Credentials } from './tenant-session.ts'
import { notSignedIn, UsageError } from './usage-error.ts'

/** A server and the credentials of one tenant there. */
export interface Profile {
  readonly baseUrl: string
  readonly credentials: Credentials
}

interface Stored {
  /** Name of the profile that commands use by default. */
  readonly current: string | undefined
  readonly profiles: Readonly<Record<string, Profile>>
}

type Env = Readonly<Record<string, string | undefined>>

const NAME = /^[\w.-]{1,64}$/
/** Permissions of others than the owner. */
const OTHERS_MODE = 0o077

/** The folder for configuration of the XDG Base Directory Specification, which ignores relative paths. */
export function configFolder(env: Env, home = homedir()): string {
  const given = env['XDG_CONFIG_HOME'] ?? ''
  return join(isAbsolute(given) ? given : join(home, '.config'), 'svc')
}

export const profilesFile = (env: Env): string => join(configFolder(env), 'profiles.json')

export function readProfileName(text: string): string {
  if (!NAME.test(text)) throw new UsageError('A profile name has 1 to 64 letters, digits and . _ -')
  return text
}

/** The profiles of the current user. Throws UsageError where others could read the file, or it is damaged. */
export async function readProfiles(env: Env): Promise<Stored> {
  const file = profilesFile(env)
  let text: string
  try {
    const { mode } = await stat(file)
    if (process.platform !== 'win32' && (mode & OTHERS_MODE) !== 0)
      throw new UsageError(`Others may read ${file}. Run: chmod 600 ${file}`)
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: undefined, profiles: {} }
    throw error
  }
  try {
    const { current, profiles } = JSON.parse(text) as Stored
    if (profiles === null || typeof profiles !== 'object') throw new TypeError('no profiles')
    return { current, profiles }
  } catch {
    throw new UsageError(`${file} is damaged. Delete it and sign in again: svc login`)
  }
}

const write = (env: Env, stored: Stored): Promise<void> =>
  writeWhole(profilesFile(env), `${JSON.stringify(stored, null, 2)}\n`)

/** Keeps a profile and makes it the current one. */
export async function saveProfile(env: Env, name: string, profile: Profile): Promise<void> {
  const { profiles } = await readProfiles(env)
  await write(env, { current: name, profiles: { ...profiles, [name]: profile } })
}

/** Removes a profile; false where there is none of this name. The file goes with the last one. */
export async function removeProfile(env: Env, name: string): Promise<boolean> {
  const { current, profiles } = await readProfiles(env)
  const { [name]: removed, ...rest } = profiles
  if (!removed) return false
  const [first] = Object.keys(rest)
  if (first === undefined) await rm(profilesFile(env), { force: true })
  else await write(env, { current: current === name ? first : current, profiles: rest })
  return true
}

export async function selectProfile(env: Env, name: string): Promise<void> {
  const { profiles } = await readProfiles(env)
  if (!Object.hasOwn(profiles, name)) throw noProfile(name, Object.keys(profiles))
  await write(env, { current: name, profiles })
}

/** The profile of this name, of `SVC_PROFILE`, or the current one. */
export async function findProfile(env: Env, given?: string): Promise<Profile & { readonly name: string }> {
  const { current, profiles } = await readProfiles(env)
  const name = given ?? env['SVC_PROFILE'] ?? current
  const profile = name === undefined || !Object.hasOwn(profiles, name) ? undefined : profiles[name]
  if (name === undefined || !profile) throw noProfile(name, Object.keys(profiles))
  return { ...profile, name }
}

function noProfile(name: string | undefined, known: readonly string[]): UsageError {
  if (name === undefined || known.length === 0)
    return notSignedIn(
      'Not signed in. Run: svc login --base-url <url>, or for a sandbox that runs: svc login --sandbox <url>',
    )
  return notSignedIn(`There is no profile ${name}. There are: ${known.join(', ')}`)
}
