import { type Static, Type } from 'typebox'
import { fail } from '../errors.ts'
import { newId } from '../kernel/ids.ts'
import { parseRfc3339 } from '../kernel/time.ts'
import { columns, statement } from '../platform/db/statement.ts'
import { command, ok } from '../platform/http/operation.ts'
import { saveEvents } from '../platform/outbox.ts'
import {
  type CoinConfig,
  CoinConfigRecord,
  coinConfigEvent,
  EventName,
  requireConsistent,
  requireNoOverlap,
  TERMS,
  toWire,
} from './coin-config.ts'
import { insertCoinConfigs, lockCoinConfigs } from './coin-config-store.ts'

const CreateCoinConfigRequest = Type.Object(
  {
    configuration: Type.Optional(
      Type.Enum(['DEFAULT', 'CUSTOM'], {
        description: '`DEFAULT`, the default, for all companies; `CUSTOM` for one, and outranks it',
      }),
    ),
    companyId: Type.Optional(
      Type.String({ maxLength: 64, description: 'The company of a `CUSTOM` configuration' }),
    ),
    event: EventName,
    amount: TERMS.amount,
    title: TERMS.title,
    description: Type.Optional(TERMS.description),
    validFrom: Type.Optional(TERMS.validFrom),
    validTo: Type.Optional(TERMS.validTo),
    perUserDailyLimit: Type.Optional(TERMS.perUserDailyLimit),
    coinsExpireAfterDays: Type.Optional(TERMS.coinsExpireAfterDays),
  },
  { additionalProperties: false },
)

interface CreateCoinConfig {
  readonly tenantId: string
  /** Without `validFrom` the configuration is valid from its creation on. */
  readonly config: Omit<CoinConfig, 'validFrom' | 'createdAt' | 'modifiedAt'> & {
    readonly validFrom: Date | null
  }
  readonly eventId: string
  readonly timeZone: string
}

interface Created {
  readonly config: CoinConfig
  readonly command: CreateCoinConfig
}

const COMPANIES = statement<{ company_id: string }>(
  'coins_companies',
  'select company_id from companies where (partner_id, company_id) in (select * from unnest($1::text[], $2::text[]))',
)

/** Ours (decision K3): says what an event awards. */
export const createCoinConfig = command({
  id: 'createCoinConfig',
  method: 'POST',
  path: '/api/v0/svc-coins',
  tag: 'Coins',
  summary: 'Create coin configuration',
  description:
    'Active at once, within its validity. At every instant one active configuration at most answers for an event of the partner (`DEFAULT`) or of one of its companies (`CUSTOM`).',
  auth: 'partner',
  family: 'response_code',
  body: CreateCoinConfigRequest,
  result: CoinConfigRecord,
  errors: ['company_not_found', 'coin_config_overlaps'],

  prepare:
    ({ clock, random, config }) =>
    ({ caller: { tenantId }, body }): CreateCoinConfig => {
      const coinConfigId = newId('ccf', clock.now(), random)
      return {
        tenantId,
        config: newConfig(tenantId, coinConfigId, body),
        eventId: newId('evt', clock.now(), random),
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    },

  async lock(tx, creates) {
    const custom = creates.filter(({ config }) => config.companyId !== null)
    const configs = await lockCoinConfigs(
      tx,
      creates.map(({ tenantId, config: { event } }) => ({ tenantId, event })),
    )
    const keys = columns(
      custom,
      ({ tenantId }) => tenantId,
      ({ config }) => config.companyId,
    )
    const companies = custom.length === 0 ? [] : await tx.query(COMPANIES, keys)
    return { configs, companies: new Set(companies.map((row) => row.company_id)) }
  },

  decide({ configs, companies }, create, now): Created {
    const { companyId } = create.config
    if (companyId !== null && !companies.has(companyId)) fail('company_not_found')
    const config: CoinConfig = {
      ...create.config,
      validFrom: create.config.validFrom ?? now,
      createdAt: now,
      modifiedAt: now,
    }
    requireConsistent(config)
    requireNoOverlap(config, configs.values())
    return { config, command: create }
  },

  apply: ({ configs }, { config }) => void configs.set(config.coinConfigId, config),

  save(tx, decisions) {
    insertCoinConfigs(
      tx,
      decisions.map(({ config }) => config),
    )
    saveEvents(
      tx,
      decisions.map(({ config, command }) => coinConfigEvent(config, command.eventId, command.timeZone)),
    )
  },

  answer: ({ config, command }) => ok(toWire(config, command.timeZone)),
})

function newConfig(
  partnerId: string,
  coinConfigId: string,
  body: Static<typeof CreateCoinConfigRequest>,
): CreateCoinConfig['config'] {
  const { configuration = 'DEFAULT', companyId = null } = body
  if (configuration === 'CUSTOM' && companyId === null)
    fail('validation_failed', { description: 'companyId: is required for a CUSTOM configuration' })
  if (configuration === 'DEFAULT' && companyId !== null)
    fail('validation_failed', { description: 'companyId: belongs to a CUSTOM configuration only' })
  return {
    coinConfigId,
    partnerId,
    configuration,
    companyId,
    event: body.event,
    amount: BigInt(body.amount),
    title: body.title,
    description: body.description ?? null,
    status: 'ACTIVE',
    validFrom: body.validFrom === undefined ? null : parseRfc3339(body.validFrom)!,
    validTo: body.validTo === undefined ? null : parseRfc3339(body.validTo)!,
    perUserDailyLimit: body.perUserDailyLimit === undefined ? null : BigInt(body.perUserDailyLimit),
    coinsExpireAfterDays: body.coinsExpireAfterDays ?? null,
    revision: 1,
  }
}
