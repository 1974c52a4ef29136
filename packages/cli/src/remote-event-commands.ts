import { join } from 'node:path'
import { EVENT_TYPES, type EventType } from '@svc/contract/events'
import { type Command, InvalidArgumentError } from 'commander'
import { readFrom, trigger, withOverride } from './event-commands.ts'
import type { FeedStart } from './feed-position.ts'
import { configFolder, findProfile } from './profile-store.ts'
import { TenantSession } from './tenant-session.ts'
import { UsageError } from './usage-error.ts'

interface ListenOptions {
  readonly forwardTo?: string
  readonly events?: readonly string[]
  readonly from?: FeedStart
  readonly profile?: string
}

function readTypes(text: string): readonly string[] {
  const types = text.split(',').map((type) => type.trim())
  const unknown = types.filter((type) => !EVENT_TYPES.includes(type as EventType))
  if (unknown.length > 0) throw new InvalidArgumentError(`There is no event ${unknown.join(', ')}.`)
  return types
}

export function addRemoteEventCommands(program: Command): void {
  program
    .command('listen')
    .description('print each event of the tenant of a profile and forward it, signed, until it is accepted')
    .option('--forward-to <url>', 'send each event there, such as http://127.0.0.1:3000/hook')
    .option('--events <types>', 'only these types, separated by commas', readTypes)
    .option(
      '--from <position>',
      'begin here instead of where the last run stopped: now, start, a sequence number or an RFC 3339 time',
      readFrom,
    )
    .option('--profile <name>', 'the profile; by default SVC_PROFILE, or the current one')
    .addHelpText(
      'after',
      '\nExamples:\n  svc listen --forward-to http://127.0.0.1:3000/hook --from now\n  svc listen --events qr_code.credited,payment.refunded',
    )
    .action(listen)
  withOverride(program.command('trigger <event>'))
    .description('make a real event happen to a demo tenant of the sandbox of this machine')
    .addHelpText('after', '\nExample:\n  svc trigger qr_code.credited --override amount=249.5')
    .action(trigger)
}

async function listen({ forwardTo, events = [], from, profile }: ListenOptions): Promise<void> {
  if (
    forwardTo !== undefined &&
    !/^https?:$/.test(URL.canParse(forwardTo) ? new URL(forwardTo).protocol : '')
  )
    throw new UsageError('--forward-to must be an http or https URL')
  const { name, baseUrl, credentials } = await findProfile(process.env, profile)
  const { listenToEvents } = await import('./listen-events.ts')
  await listenToEvents({
    session: new TenantSession(baseUrl, credentials),
    positionFile: join(configFolder(process.env), 'positions', `${name}.json`),
    forward: forwardTo,
    from,
    types: events,
    say: (line) => process.stdout.write(`${line}\n`),
  })
}
