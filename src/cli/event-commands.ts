import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { readConfig } from '../config.ts'
import {
  type Credentials,
  DEMO_TENANTS,
  type DemoTenant,
  readSandbox,
  TenantSession,
} from './tenant-session.ts'
import { UsageError } from './usage-error.ts'

interface ListenOptions {
  readonly forward?: string
  readonly as: DemoTenant
  readonly baseUrl?: string
  readonly apiKey?: string
  readonly clientId?: string
  readonly clientSecret?: string
  readonly position?: string
  readonly after: string
}

export function addEventCommands(program: Command): void {
  const events = program.command('events').description('hear of events, and make them happen')
  events
    .command('listen')
    .description(
      'print every event and forward it, signed; remembers its position, so that a restart misses none',
    )
    .option('--forward <url>', 'send each event there until it is taken, such as http://127.0.0.1:3000/hook')
    .addOption(
      new Option('--as <tenant>', 'tenant of sandbox.json').choices([...DEMO_TENANTS]).default('merchant'),
    )
    .option('--base-url <url>', 'the service; by default the one of sandbox.json')
    .addOption(new Option('--api-key <key>', 'a merchant’s key, in place of --as').env('SVC_API_KEY'))
    .addOption(new Option('--client-id <id>', 'a partner’s client, in place of --as').env('SVC_CLIENT_ID'))
    .addOption(new Option('--client-secret <secret>', 'its secret').env('SVC_CLIENT_SECRET'))
    .option('--position <file>', 'where the position is kept; by default in DATA_DIR')
    .option('--after <sequence>', 'where to begin when there is no position yet', '0')
    .addHelpText(
      'after',
      '\nExamples:\n  svc events listen\n  svc events listen --forward http://127.0.0.1:3000/hook\n  svc events listen --as incentivePartner',
    )
    .action(listen)
  events
    .command('trigger <type>')
    .description('make a real event happen to a demo tenant of the sandbox')
    .addHelpText(
      'after',
      '\nExamples:\n  svc events trigger qr_code.credited\n  svc events trigger card.spent',
    )
    .action(async (type: string) => {
      const { triggerEvent } = await import('./trigger-event.ts')
      process.stdout.write(`${await triggerEvent(await readSandbox(), type)}\n`)
    })
}

async function listen(options: ListenOptions): Promise<void> {
  const { forward, as, after } = options
  if (!/^\d{1,15}$/.test(after)) throw new UsageError('--after must be a sequence number')
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
    from: Number(after),
    say: (line) => process.stdout.write(`${line}\n`),
  })
}

function givenCredentials({ apiKey, clientId, clientSecret }: ListenOptions): Credentials | undefined {
  if (apiKey) return { apiKey }
  if (clientId && clientSecret) return { clientId, clientSecret }
  if (clientId || clientSecret) throw new UsageError('--client-id and --client-secret go together')
  return undefined
}
