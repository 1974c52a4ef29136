import { type Static, type TSchema, Type } from 'typebox'
import { fail } from '../errors.ts'
import { newId } from '../kernel/ids.ts'
import { parseRfc3339 } from '../kernel/time.ts'
import { command, ok } from '../platform/http/operation.ts'
import {
  type CoinConfig,
  CoinConfigParams,
  CoinConfigRecord,
  requireConsistent,
  requireNoOverlap,
  TERMS,
  toWire,
} from './coin-config.ts'
import { lockCoinConfigs } from './coin-config-store.ts'
import {
  currentOf,
  type Revise,
  type Revised,
  readIfMatch,
  revised,
  saveRevised,
} from './revise-coin-config.ts'

/** RFC 7396: `null` takes the field away. */
const removable = <T extends TSchema & { type: string }>(term: T) =>
  Type.Optional(Type.Unsafe<Static<T> | null>({ ...term, type: [term.type, 'null'] }))

const UpdateCoinConfigRequest = Type.Object(
  {
    amount: Type.Optional(TERMS.amount),
    title: Type.Optional(TERMS.title),
    description: removable(TERMS.description),
    status: Type.Optional(Type.Enum(['ACTIVE', 'INACTIVE'])),
    validFrom: Type.Optional(TERMS.validFrom),
    validTo: removable(TERMS.validTo),
    perUserDailyLimit: removable(TERMS.perUserDailyLimit),
    coinsExpireAfterDays: removable(TERMS.coinsExpireAfterDays),
  },
  { additionalProperties: false },
)

interface UpdateCoinConfig extends Revise {
  readonly terms: Partial<CoinConfig>
}

/** Ours (decision K3): changes the terms of a configuration. Its event, kind and company never change (decision K7). */
export const updateCoinConfig = command({
  id: 'updateCoinConfig',
  method: 'PATCH',
  path: '/api/v0/svc-coins/:coinConfigId',
  tag: 'Coins',
  summary: 'Update coin configuration',
  description:
    'A merge patch (RFC 7396): fields that are left out stay, `null` takes one away. `If-Match` with the `ETag` of the look-up is required, so that of two who change the same revision one is told. Coins that were awarded before keep their terms.',
  auth: 'partner',
  family: 'response_code',
  headers: { 'If-Match': 'The `ETag` of the look-up, such as `"3"` (required)' },
  params: CoinConfigParams,
  body: UpdateCoinConfigRequest,
  result: CoinConfigRecord,
  errors: ['coin_config_not_found', 'coin_config_overlaps', 'revision_mismatch', 'revision_required'],

  prepare:
    ({ clock, random, config }) =>
    ({ caller, params, headers, body }): UpdateCoinConfig => ({
      tenantId: caller.tenantId,
      coinConfigId: params.coinConfigId,
      ifMatch: readIfMatch(headers['if-match']),
      terms: termsOf(body),
      eventId: newId('evt', clock.now(), random),
      timeZone: config.BUSINESS_TIME_ZONE,
    }),

  lock: (tx, changes: readonly UpdateCoinConfig[]) => lockCoinConfigs(tx, changes),

  decide(configs, update, now): Revised {
    const current = currentOf(configs, update)
    if (update.ifMatch === undefined) fail('revision_required')
    const decision = revised(current, update.terms, update, now)
    requireConsistent(decision.config)
    requireNoOverlap(decision.config, configs.values())
    return decision
  },

  apply: (configs, { config }) => void configs.set(config.coinConfigId, config),
  save: saveRevised,
  answer: ({ config, command }) => ok(toWire(config, command.timeZone)),
})

/** What the request says: an absent field is absent, `null` stays `null`. */
function termsOf(body: Static<typeof UpdateCoinConfigRequest>): Partial<CoinConfig> {
  const { validFrom, validTo, amount, perUserDailyLimit, ...same } = body
  return {
    ...same,
    ...(amount !== undefined && { amount: BigInt(amount) }),
    ...(validFrom !== undefined && { validFrom: parseRfc3339(validFrom)! }),
    ...(validTo !== undefined && { validTo: validTo === null ? null : parseRfc3339(validTo)! }),
    ...(perUserDailyLimit !== undefined && {
      perUserDailyLimit: perUserDailyLimit === null ? null : BigInt(perUserDailyLimit),
    }),
  }
}
