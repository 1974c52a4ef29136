import type { Command } from 'commander'
import { Failure } from '../errors.ts'
import { EVENT_TYPES, type EventType } from '../events.ts'
import { newId } from '../kernel/ids.ts'
import { sqlState } from '../platform/db/database.ts'
import {
  operatorDeletesEndpoint,
  operatorRotatesSecret,
  setEndpointEnabled,
} from '../webhooks/change-endpoint.ts'
import { operatorCreatesEndpoint } from '../webhooks/create-endpoint.ts'
import { type Endpoint, listTenantEndpoints, urlRule } from '../webhooks/endpoint.ts'
import { endpointUrl } from '../webhooks/endpoint-url.ts'
import { withInstallation } from './context.ts'
import { printRecord, printRows } from './print.ts'
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

const noEndpoint = (endpointId: string): never => {
  throw new UsageError(
    `The tenant has no webhook endpoint ${endpointId}. See them with: svc webhook list <tenantId>`,
  )
}

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
  const webhook = program.command('webhook').description('where merchants and partners are told of events')
  webhook
    .command('create <tenantId>')
    .description('register an endpoint; prints its signing secret, which is shown only once')
    .requiredOption('--url <url>', 'https; in sandbox mode also http and loopback')
    .option('--types <types>', 'comma-separated event types; all by default', '')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc webhook create mer_… --url https://shop.example.com/hook --types qr_code.credited',
    )
    .action(create)
  webhook
    .command('list <tenantId>')
    .description('list the endpoints of a tenant')
    .option('--json', 'print JSON')
    .action(async (tenantId: string, { json = false }: Json) => {
      const endpoints = await withInstallation(({ database }) =>
        database.operate((tx) => listTenantEndpoints(tx, tenantId)),
      )
      printRows(endpoints.map(shown), json)
    })
  webhook
    .command('rotate <tenantId> <endpointId>')
    .description('make a new signing secret; the former ones go on signing beside it for a day')
    .option('--json', 'print JSON')
    .action(async (tenantId: string, endpointId: string, { json = false }: Json) => {
      const rotated = await withInstallation(({ database, keyMaker }) =>
        database.operate((tx) => operatorRotatesSecret(tx, keyMaker, { tenantId, endpointId }, new Date())),
      )
      const { endpoint, secret } = rotated ?? noEndpoint(endpointId)
      printRecord({ ...shown(endpoint), secret: secret.reveal() }, json)
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
        const changed = await withInstallation(({ database }) =>
          database.operate((tx) => setEndpointEnabled(tx, { tenantId, endpointId }, enabled, new Date())),
        )
        printRecord(shown(changed ?? noEndpoint(endpointId)), json)
      })
  webhook
    .command('delete <tenantId> <endpointId>')
    .description('delete an endpoint with its secrets, its attempts and what was still to be sent')
    .option('--json', 'print JSON')
    .action(async (tenantId: string, endpointId: string, { json = false }: Json) => {
      const deleted = await withInstallation(({ database }) =>
        database.operate((tx) => operatorDeletesEndpoint(tx, { tenantId, endpointId })),
      )
      if (!deleted) noEndpoint(endpointId)
      printRecord({ endpointId, tenantId, status: 'deleted' }, json)
    })
}

interface CreateOptions extends Json {
  readonly url: string
  readonly types: string
}

async function create(tenantId: string, { url, types, json = false }: CreateOptions): Promise<void> {
  const wanted = readTypes(types)
  const made = await withInstallation(({ config, database, keyMaker: { keyring, random } }) => {
    const now = new Date()
    const plan = {
      tenantId,
      url: endpointUrl(url, urlRule(config)),
      types: wanted,
      now,
      endpointId: newId('whe', now.getTime(), random),
    }
    return database.operate((tx) => operatorCreatesEndpoint(tx, { keyring, random }, plan))
  }).catch((error: unknown) => {
    if (sqlState(error) === '23503') throw new UsageError(`There is no tenant ${tenantId}`)
    if (error instanceof Failure) throw new UsageError(error.description)
    throw error
  })
  printRecord({ ...shown(made.endpoint), secret: made.secret.reveal() }, json)
}
