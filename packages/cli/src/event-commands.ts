import { join } from 'node:path'
import { readConfig } from '@svc/contract/config'
import { parseRfc3339 } from '@svc/kernel/time'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { FeedStart } from './feed-position.ts'
import {
  type Credentials,
  DEMO_TENANTS,
  type DemoTenant,
  readSandbox,
  TenantSession,
} from './tenant-session.ts'
import type { Overrides } from './trigger-event.ts'
import { UsageError } from './usage-error.ts'

interface ListenOptions {
  readonly forward?: string
  readonly as: DemoTenant
  readonly baseUrl?: string
  readonly apiKey?: string
  readonly partnerId?: string
  readonly clientId?: string
  readonly clientSecret?: string
  readonly position?: string
  readonly from?: string
}

/** Adds a field to what the trigger sends: JSON where it is some, else text. */
export function readOverride(text: string, before: Overrides = {}): Overrides {
  const equals = text.indexOf('=')
  if (equals < 1) throw new InvalidArgumentError('Give it as field=value.')
  const value = text.slice(equals + 1)
  return { ...before, [text.slice(0, equals)]: parsedOr(value) }
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** Makes an event happen to a demo tenant of the sandbox. */
export async function trigger(
  type: string,
  { override = {} }: { readonly override?: Overrides },
): Promise<void> {
  const { triggerEvent } = await import('./trigger-event.ts')
  process.stdout.write(`${await triggerEvent(await readSandbox(), type, override)}\n`)
}

export const withOverride = (command: Command): Command =>
  command.option(
    '--override <field=value>',
    'replace this field of the requests that cause the event; may be repeated',
    readOverride,
  )

export function addEventCommands(program: Command): void {
  const events = program.command('events').description('receive events, and make them happen')
  events
    .command('listen')
    .description(
      'print each event from now on and forward it, signed; a restart continues where it stopped and misses none',
    )
    .option('--forward <url>', 'send each event there until it is taken, such as http://127.0.0.1:3000/hook')
    .addOption(
      new Option('--as <tenant>', 'tenant of sandbox.json').choices([...DEMO_TENANTS]).default('merchant'),
    )
    .option('--base-url <url>', 'the service; by default the one of sandbox.json')
    .addOption(new Option('--api-key <key>', 'a merchant’s key, in place of --as').env('SVC_API_KEY'))
    .addOption(new Option('--partner-id <id>', 'a partner, in place of --as').env('SVC_PARTNER_ID'))
    .addOption(new Option('--client-id <id>', 'its client').env('SVC_CLIENT_ID'))
    .addOption(new Option('--client-secret <secret>', 'its secret').env('SVC_CLIENT_SECRET'))
    .option('--position <file>', 'where the position is kept; by default in DATA_DIR')
    .option(
      '--from <position>',
      'begin here instead of at the kept position: now, start (the oldest event), a sequence number or an RFC 3339 time',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  svc events listen\n  svc events listen --forward http://127.0.0.1:3000/hook\n  svc events listen --as incentivePartner\n  svc events listen --from start\n  svc events listen --from 2026-04-01T09:00:00+05:30',
    )
    .action(listen)
  withOverride(events.command('trigger <type>'))
    .description('make a real event happen to a demo tenant of the sandbox')
    .addHelpText(
      'after',
      '\nExamples:\n  svc events trigger qr_code.credited\n  svc events trigger card.spent --override amount=40',
    )
    .action(trigger)
}

async function listen(options: ListenOptions): Promise<void> {
  const { forward, as } = options
  const from = options.from === undefined ? undefined : readFrom(options.from)
  if (forward !== undefined && !/^https?:$/.test(URL.canParse(forward) ? new URL(forward).protocol : ''))
    throw new UsageError('--forward must be an http or https URL')
  const given = givenCredentials(options)
  const sandbox = given && options.baseUrl ? undefined : await readSandbox()
  const baseUrl = options.baseUrl ?? sandbox!.baseUrl
  const credentials = given ?? sandbox![as]
  const name = given ? ('apiKey' in given ? given.apiKey.slice(0, 15) : given.clientId) : as
  const file = options.position ?? join(readConfig(process.env).DATA_DIR, `events-${name}.json`)
  const { listenToEvents } = await import('./listen-events.ts')
  await listenToEvents({
    session: new TenantSession(baseUrl, credentials),
    positionFile: file,
    forward,
    from,
    say: (line) => process.stdout.write(`${line}\n`),
  })
}

export function readFrom(text: string): FeedStart {
  if (text === 'now' || text === 'start') return text
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const at = parseRfc3339(text)
  if (at) return at
  throw new UsageError(
    '--from must be now, start, a sequence number or a time such as 2026-04-01T09:00:00+05:30',
  )
}

function givenCredentials({ apiKey, ...client }: ListenOptions): Credentials | undefined {
  if (apiKey) return { apiKey }
  const { partnerId, clientId, clientSecret } = client
  if (partnerId && clientId && clientSecret) return { partnerId, clientId, clientSecret }
  if (partnerId || clientId || clientSecret)
    throw new UsageError('--partner-id, --client-id and --client-secret go together')
  return undefined
}
