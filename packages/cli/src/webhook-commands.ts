import { requireShown, shownSecret } from '@svc/console-api/faces/sandbox-secret'
import { type Config, readConfig } from '@svc/contract/config'
import { Failure } from '@svc/contract/errors'
import { EVENT_TYPES, type EventType } from '@svc/contract/events'
import { findTenant } from '@svc/core/tenants/tenant'
import { deleteEndpoint, rotateSecret, updateEndpoint } from '@svc/core/webhooks/change-endpoint'
import { createEndpoint } from '@svc/core/webhooks/create-endpoint'
import type { Endpoint } from '@svc/core/webhooks/endpoint'
import type { EndpointKey } from '@svc/core/webhooks/endpoint-store'
import type { Secret } from '@svc/kernel/secret'
import type { AnyCommand } from '@svc/platform/command'
import { type ListedEndpoint, webhookEndpoint } from '@svc/server/webhooks/list-endpoints'
import type { Command } from 'commander'
import { refused } from './administrator.ts'
import { cliActor, withInstallation } from './context.ts'
import { addNounList, addNounShow } from './noun-commands.ts'
import { printRecord } from './print.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

const shown = ({ endpointId, tenantId, url, types, enabled, disabledReason, createdAt }: Endpoint) => ({
  endpointId,
  tenantId,
  url,
  types: types.join(',') || 'all',
  status: enabled ? 'enabled' : (disabledReason ?? 'disabled'),
  createdAt,
})

/** Runs the command that the API runs, as the operator. Every change of an endpoint is audited by the database itself. */
const change = <Args, D>(
  command: AnyCommand<Args, D>,
  args: Args & EndpointKey,
  check?: (config: Config) => void,
): Promise<D> =>
  withInstallation(({ commands, config }) => {
    check?.(config)
    return commands
      .open(command)
      .run(args, { actor: cliActor(), target: args.endpointId, tenantId: args.tenantId })
      .catch((error: unknown) => {
        if (!(error instanceof Failure)) throw error
        throw new UsageError(`${error.description}. See them with: svc admin webhook list ${args.tenantId}`)
      })
  })

/** Of an endpoint that was changed after `requireShown`. */
const textOf = (secret: Secret): string => shownSecret(secret, readConfig(process.env))

const KNOWN: ReadonlySet<string> = new Set(EVENT_TYPES)

function readTypes(text: string): EventType[] {
  const types = text.split(',').filter((part) => part !== '')
  const unknown = types.filter((type) => !KNOWN.has(type))
  if (unknown.length > 0)
    throw new UsageError(
      `--types: there is no event ${unknown.join(', ')}. There are: ${EVENT_TYPES.join(', ')}`,
    )
  return types as EventType[]
}

export function addWebhookCommands(program: Command): void {
  const webhook = program
    .command('webhook')
    .description('manage the webhook endpoints of merchants and partners')
  webhook
    .command('create <tenantId>')
    .description(
      'register an endpoint; prints its signing secret, which is shown only once (sandbox mode only)',
    )
    .requiredOption('--url <url>', 'https; in sandbox mode also http and loopback')
    .option('--types <types>', 'comma-separated event types; all by default', '')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin webhook create mer_… --url https://shop.example.com/hook --types qr_code.credited',
    )
    .action(create)
  addNounList<ListedEndpoint>(webhook, webhookEndpoint, {
    by: 'tenantId',
    description: 'list the endpoints of a tenant, or of all, newest first',
    example: 'svc admin webhook list mer_… --state disabled',
  })
  addNounShow<ListedEndpoint>(webhook, webhookEndpoint, {
    id: 'endpointId',
    description: 'show an endpoint, with what waits for it and its last attempt',
    example: 'svc admin webhook show whe_…',
  })
  webhook
    .command('rotate <tenantId> <endpointId>')
    .description(
      'create a new signing secret, which is shown only once (sandbox mode only); the previous ones stay in use for a day',
    )
    .option('--json', 'print JSON')
    .action(async (tenantId: string, endpointId: string, { json = false }: Json) => {
      const key = { tenantId, endpointId }
      const { endpoint, rotate } = await refused(change(rotateSecret, key, requireShown))
      printRecord({ ...shown(endpoint), secret: textOf(rotate.secret) }, json)
    })
  for (const [name, enabled, description] of [
    ['disable', false, 'send nothing more to an endpoint'],
    ['enable', true, 'undo disable; what was missed can be replayed'],
  ] as const)
    webhook
      .command(`${name} <tenantId> <endpointId>`)
      .description(description)
      .option('--json', 'print JSON')
      .action(async (tenantId: string, endpointId: string, { json = false }: Json) => {
        const changed = await change(updateEndpoint, { tenantId, endpointId, changes: { enabled } })
        printRecord(shown(changed), json)
      })
  webhook
    .command('delete <tenantId> <endpointId>')
    .description('delete an endpoint with its secrets, its attempts and what was still to be sent')
    .option('--json', 'print JSON')
    .action(async (tenantId: string, endpointId: string, { json = false }: Json) => {
      await change(deleteEndpoint, { tenantId, endpointId })
      printRecord({ endpointId, tenantId, status: 'deleted' }, json)
    })
}

interface CreateOptions extends Json {
  readonly url: string
  readonly types: string
}

async function create(tenantId: string, { url, types, json = false }: CreateOptions): Promise<void> {
  const wanted = readTypes(types)
  const { endpoint, command } = await withInstallation(async ({ commands, config, database }) => {
    requireShown(config)
    if (!(await database.operate((tx) => findTenant(tx, tenantId))))
      throw new UsageError(`There is no tenant ${tenantId}`)
    const audit = {
      actor: cliActor(),
      target: (created: { endpoint: Endpoint }) => created.endpoint.endpointId,
    }
    return commands.open(createEndpoint).run({ tenantId, url, types: wanted }, { ...audit, tenantId })
  }).catch((error: unknown) => {
    if (error instanceof Failure) throw new UsageError(error.description)
    throw error
  })
  printRecord({ ...shown(endpoint), secret: textOf(command.secret) }, json)
}
