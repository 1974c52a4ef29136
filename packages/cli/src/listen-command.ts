import { join } from 'node:path'
import { readConfig } from '@svc/contract/config'
import { EVENT_TYPES, type EventType } from '@svc/contract/events'
import { parseRfc3339 } from '@svc/kernel/time'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { FeedStart } from './feed-position.ts'
import { configFolder, findProfile } from './profile-store.ts'
import { DEMO_TENANTS, type DemoTenant, readSandbox, TenantSession } from './tenant-session.ts'
import { UsageError } from './usage-error.ts'

interface ListenOptions {
  readonly forwardTo?: string
  readonly events?: readonly string[]
  readonly from?: FeedStart
  readonly profile?: string
  readonly as?: DemoTenant
  readonly position?: string
}

/** `svc listen`, of any server. */
export function addListenCommand(program: Command): void {
  program
    .command('listen')
    .description(
      'print each event of a tenant and forward it, signed, until it is accepted; a restart continues where it stopped and misses none',
    )
    .option('--forward-to <url>', 'send each event there, such as http://127.0.0.1:3000/hook')
    .option('--events <types>', 'only these types, separated by commas', readTypes)
    .option(
      '--from <position>',
      'begin here instead of where the last run stopped: now, start (the oldest event), a sequence number or an RFC 3339 time',
      readFrom,
    )
    .option('--profile <name>', 'the profile; by default SVC_PROFILE, or the current one')
    .addOption(
      new Option('--as <tenant>', 'a tenant of sandbox.json, instead of a profile')
        .choices([...DEMO_TENANTS])
        .conflicts('profile'),
    )
    .option('--position <file>', 'where the position is kept; by default beside the profiles, or in DATA_DIR')
    .addHelpText(
      'after',
      '\nExamples:\n  svc listen --forward-to http://127.0.0.1:3000/hook --from now\n  svc listen --events qr_code.credited,payment.refunded\n  svc listen --as incentivePartner --from 2026-04-01T09:00:00+05:30',
    )
    .action(listen)
}

function readTypes(text: string): readonly string[] {
  const types = text.split(',').map((type) => type.trim())
  const unknown = types.filter((type) => !EVENT_TYPES.includes(type as EventType))
  if (unknown.length > 0) throw new InvalidArgumentError(`There is no event ${unknown.join(', ')}.`)
  return types
}

function readFrom(text: string): FeedStart {
  if (text === 'now' || text === 'start') return text
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const at = parseRfc3339(text)
  if (at) return at
  throw new UsageError(
    '--from must be now, start, a sequence number or a time such as 2026-04-01T09:00:00+05:30',
  )
}

async function listen(options: ListenOptions): Promise<void> {
  const { forwardTo, events = [], from } = options
  if (
    forwardTo !== undefined &&
    !/^https?:$/.test(URL.canParse(forwardTo) ? new URL(forwardTo).protocol : '')
  )
    throw new UsageError('--forward-to must be an http or https URL')
  const { session, positionFile } = await sourceOf(options)
  const { listenToEvents } = await import('./listen-events.ts')
  await listenToEvents({
    session,
    positionFile: options.position ?? positionFile,
    forward: forwardTo,
    from,
    types: events,
    say: (line) => process.stdout.write(`${line}\n`),
  })
}

/** Whose events, and where the position is kept by default. */
async function sourceOf({ as, profile }: ListenOptions) {
  if (as !== undefined) {
    const sandbox = await readSandbox()
    const positionFile = join(readConfig(process.env).DATA_DIR, `events-${as}.json`)
    return { session: new TenantSession(sandbox.baseUrl, sandbox[as]), positionFile }
  }
  const { name, baseUrl, credentials } = await findProfile(process.env, profile)
  const positionFile = join(configFolder(process.env), 'positions', `${name}.json`)
  return { session: new TenantSession(baseUrl, credentials), positionFile }
}
