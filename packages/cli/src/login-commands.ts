import { password as promptPassword, text as promptText } from '@clack/prompts'
import { type Command, Option } from 'commander'
import { requireEncryptedWay } from './encrypted-way.ts'
import { printJson, printRows } from './print.ts'
import {
  findProfile,
  profilesFile,
  readProfileName,
  readProfiles,
  removeProfile,
  saveProfile,
  selectProfile,
} from './profile-store.ts'
import { readText } from './read-text.ts'
import {
  type Credentials,
  DEMO_TENANTS,
  type DemoTenant,
  fetchSandbox,
  TenantSession,
} from './tenant-session.ts'
import { UsageError } from './usage-error.ts'

interface LoginOptions {
  readonly baseUrl?: string
  readonly sandbox?: string
  readonly profile: string
  readonly credentials?: string
  readonly as: DemoTenant
  readonly partner?: boolean
  readonly json?: boolean
}

const DEFAULT_PROFILE = 'default'

export function addLoginCommands(program: Command): void {
  program
    .command('login')
    .description('keep a server and the credentials of a tenant as a profile; prompts for the credentials')
    .option('--base-url <url>', 'the server, such as https://partner.example')
    .addOption(
      new Option(
        '--sandbox <url>',
        'a sandbox that runs, instead: its credentials come from there',
      ).conflicts(['baseUrl', 'credentials', 'partner']),
    )
    .option('--profile <name>', 'name of the profile', DEFAULT_PROFILE)
    .option('--credentials <file>', 'read the credentials from this file instead; - is standard input')
    .addOption(
      new Option('--as <tenant>', 'the tenant of a sandbox, or of a file in the shape of sandbox.json')
        .choices([...DEMO_TENANTS])
        .default('merchant'),
    )
    .option('--partner', 'prompt for the client of a partner instead of the API key of a merchant')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The file contains an API key on one line, or JSON: {"apiKey"}, or {"partnerId", "clientId", "clientSecret"}, or the
shape of sandbox.json. The credentials are checked, then kept in $XDG_CONFIG_HOME/svc/profiles.json (~/.config by
default), which only you may read. They are never an argument, which everybody on the machine sees.

Examples:
  svc login --base-url https://partner.example
  svc login --base-url https://partner.example --profile live --credentials - < key.txt
  svc login --sandbox http://127.0.0.1:8080 --as incentivePartner --profile cards`,
    )
    .action(login)
  program
    .command('logout')
    .description('delete a profile with its credentials')
    .option('--profile <name>', 'the profile; by default the current one')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc logout --profile live')
    .action(logout)
  program
    .command('profiles')
    .description('list the profiles of this user, or choose the current one; credentials are not shown')
    .option('--use <name>', 'make this profile the current one')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  svc profiles\n  svc profiles --use live')
    .action(listProfiles)
}

async function login(options: LoginOptions): Promise<void> {
  const { baseUrl, sandbox, profile, json } = options
  const name = readProfileName(profile)
  const server = sandbox ?? baseUrl
  if (server === undefined)
    throw new UsageError('Give --base-url <url>, or --sandbox <url> for a sandbox that runs.')
  const url = readServer(server)
  const credentials = await findCredentials(options, url)
  await new TenantSession(url, credentials).signIn()
  await saveProfile(process.env, name, { baseUrl: url, credentials })
  if (json) return printJson({ profile: name, baseUrl: url, ...ownerOf(credentials) })
  process.stdout.write(`Signed in to ${url} as profile ${name}, kept in ${profilesFile(process.env)}\n`)
}

async function findCredentials(
  { sandbox, credentials: file, as, partner }: LoginOptions,
  url: string,
): Promise<Credentials> {
  if (sandbox !== undefined) return credentialsIn(await fetchSandbox(url), as)
  if (file === undefined) return prompted(partner ?? false)
  return credentialsIn(await readText(file, 'an API key, or JSON with the credentials'), as)
}

function readServer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.password || url.search)
    throw new UsageError('The address must be a URL such as https://partner.example')
  requireEncryptedWay(url)
  return url.href.replace(/\/$/, '')
}

function credentialsIn(given: string, as: DemoTenant): Credentials {
  const text = given.trim()
  if (!text.startsWith('{')) return { apiKey: requireText(text, 'an API key') }
  let json: Record<string, unknown>
  try {
    json = JSON.parse(text) as Record<string, unknown>
  } catch {
    throw new UsageError('The credentials are not JSON')
  }
  const holder =
    json[as] !== null && typeof json[as] === 'object' ? (json[as] as Record<string, unknown>) : json
  const { apiKey, partnerId, clientId, clientSecret } = holder
  if (apiKey !== undefined) return { apiKey: requireText(apiKey, 'apiKey') }
  return {
    partnerId: requireText(partnerId, 'apiKey, or partnerId'),
    clientId: requireText(clientId, 'clientId'),
    clientSecret: requireText(clientSecret, 'clientSecret'),
  }
}

function requireText(value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '' && !/\s/.test(value)) return value
  throw new UsageError(`The credentials need ${what}, without spaces`)
}

async function prompted(isPartner: boolean): Promise<Credentials> {
  if (!process.stdin.isTTY)
    throw new UsageError(
      'Without a terminal, give the credentials with --credentials <file>, or - for standard input',
    )
  if (!isPartner)
    return { apiKey: requireText(await promptFor(promptPassword({ message: 'API key' })), 'an API key') }
  return {
    partnerId: requireText(await promptFor(promptText({ message: 'Partner id' })), 'partnerId'),
    clientId: requireText(await promptFor(promptText({ message: 'Client id' })), 'clientId'),
    clientSecret: requireText(await promptFor(promptPassword({ message: 'Client secret' })), 'clientSecret'),
  }
}

async function promptFor(prompt: Promise<string | symbol>): Promise<string> {
  const response = await prompt
  if (typeof response !== 'string') throw new UsageError('Nothing was changed')
  return response
}

const ownerOf = (credentials: Credentials) =>
  'apiKey' in credentials ? { tenant: 'merchant', id: '' } : { tenant: 'partner', id: credentials.partnerId }

async function logout({ profile, json }: { profile?: string; json?: boolean }): Promise<void> {
  const name = profile ?? (await findProfile(process.env)).name
  if (!(await removeProfile(process.env, name))) throw new UsageError(`There is no profile ${name}`)
  if (json) return printJson({ profile: name, removed: true })
  process.stdout.write(`Removed profile ${name}\n`)
}

async function listProfiles({ use, json = false }: { use?: string; json?: boolean }): Promise<void> {
  if (use !== undefined) await selectProfile(process.env, use)
  const { current, profiles } = await readProfiles(process.env)
  const rows = Object.entries(profiles).map(([profile, { baseUrl, credentials }]) => ({
    profile,
    baseUrl,
    ...ownerOf(credentials),
    current: profile === current,
  }))
  printRows(rows, json)
}
