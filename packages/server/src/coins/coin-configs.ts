import { failField } from '@svc/contract/fail-fields'
import { CoinConfigParams, CoinConfigRecord, toWire } from '@svc/core/coins/coin-config'
import { type CoinConfigRequest, createCoinConfig } from '@svc/core/coins/create-coin-config'
import { deactivateCoinConfig } from '@svc/core/coins/deactivate-coin-config'
import type { ReviseCoinConfig } from '@svc/core/coins/revise-coin-config'
import { type CoinConfigTerms, updateCoinConfig } from '@svc/core/coins/update-coin-config'
import { type Static, type TSchema, Type } from 'typebox'
import { Instant, readInstant } from '../http/fields.ts'
import { NoFields, ok, operation, tenantOperations } from '../http/operation.ts'

export const ofCoins = tenantOperations({ tag: 'Coins', auth: 'partner', envelope: 'response_code' })

const AMOUNT_MAX = 1_000_000_000
const DAYS_MAX = 3_650

const text = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, description })
/** A number of whole coins in a request. */
export const Coins = (description: string) => Type.Integer({ minimum: 1, maximum: AMOUNT_MAX, description })

export const EventName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$',
  'x-rule': 'must be 1 to 64 letters, digits and _ . : -, the first of them a letter or a digit',
  description: 'Name of the event; never changes',
})

/** The fields that a partner sets and may change. */
const TERMS = {
  amount: Coins('Coins for each event'),
  title: text(100, 'Shown to the holder'),
  description: text(500, 'For the partner’s own use'),
  validFrom: Instant('First instant of validity; the time of creation by default'),
  validTo: Instant('First instant after it; no end by default'),
  perUserDailyLimit: Coins('Most coins for one user in one business day; at least `amount`'),
  coinsExpireAfterDays: Type.Integer({
    minimum: 1,
    maximum: DAYS_MAX,
    description: 'Days of 24 hours that the coins last once they are active; they last for ever by default',
  }),
  activation: Type.Unsafe<'CONFIRMATION'>({
    type: 'string',
    enum: ['CONFIRMATION'],
    description: 'Awards are pending until each is confirmed; by default they become active by themselves',
  }),
  activateAfterDays: Type.Integer({
    minimum: 1,
    maximum: DAYS_MAX,
    description:
      'Days of 24 hours for which awards are pending; by default none. Not together with `activation`',
  }),
}

export const CreateCoinConfigRequest = Type.Object(
  {
    configuration: Type.Optional(
      Type.Enum(['DEFAULT', 'CUSTOM'], {
        description: '`DEFAULT`, the default, for all companies; `CUSTOM` for one, and outranks it',
      }),
    ),
    companyId: Type.Optional(Type.String({ description: 'The company of a `CUSTOM` configuration' })),
    event: EventName,
    amount: TERMS.amount,
    title: TERMS.title,
    description: Type.Optional(TERMS.description),
    validFrom: Type.Optional(TERMS.validFrom),
    validTo: Type.Optional(TERMS.validTo),
    perUserDailyLimit: Type.Optional(TERMS.perUserDailyLimit),
    coinsExpireAfterDays: Type.Optional(TERMS.coinsExpireAfterDays),
    activation: Type.Optional(TERMS.activation),
    activateAfterDays: Type.Optional(TERMS.activateAfterDays),
  },
  { additionalProperties: false },
)

export function readCoinConfig({
  amount,
  validFrom,
  validTo,
  perUserDailyLimit,
  ...rest
}: Static<typeof CreateCoinConfigRequest>): CoinConfigRequest {
  return {
    ...rest,
    amount: BigInt(amount),
    validFrom: readInstant('validFrom', validFrom),
    validTo: readInstant('validTo', validTo),
    perUserDailyLimit: perUserDailyLimit === undefined ? undefined : BigInt(perUserDailyLimit),
  }
}

/** Not in the specification (decision K3). */
export const createCoinConfigOperation = operation({
  ...ofCoins('coins:write'),
  id: 'createCoinConfig',
  method: 'POST',
  path: '/api/v0/svc-coins',
  summary: 'Create coin configuration',
  description:
    'Active at once, within its validity. At every instant at most one active configuration applies to an event of the partner (`DEFAULT`) or of one of its companies (`CUSTOM`).',
  body: CreateCoinConfigRequest,
  result: CoinConfigRecord,
  errors: ['company_not_found', 'coin_config_overlaps'],
  run: createCoinConfig,
  args: ({ caller, body }) => ({ partnerId: caller.tenantId, request: readCoinConfig(body) }),
  reply: ({ config }, { timeZone }) => ok(toWire(config, timeZone)),
})

const TAG = /^(?:\*|(?:W\/)?"[\x21\x23-\x7e]*")$/
const TAG_OF_REVISION = /^"([1-9][0-9]*)"$/

/** The revisions that `If-Match` names (RFC 9110 section 13.1.1); a tag in another form names no revision. */
function readIfMatch(header: string | string[] | undefined): ReviseCoinConfig['atRevision'] {
  if (header === undefined) return undefined
  const tags = String(header)
    .split(',')
    .map((tag) => tag.trim())
  if (!tags.every((tag) => TAG.test(tag)))
    failField('If-Match', 'format', 'must be the ETag of the lookup, such as "3", with its quotes', 'header')
  if (tags.includes('*')) return 'any'
  return tags.flatMap((tag) => {
    const [, revision] = TAG_OF_REVISION.exec(tag) ?? []
    return revision === undefined ? [] : [Number(revision)]
  })
}

/** RFC 7396: `null` removes the field. */
const removable = <T extends TSchema & { type: string }>(term: T) =>
  Type.Optional(Type.Unsafe<Static<T> | null>({ ...term, type: [term.type, 'null'] }))

export const UpdateCoinConfigRequest = Type.Object(
  {
    amount: Type.Optional(TERMS.amount),
    title: Type.Optional(TERMS.title),
    description: removable(TERMS.description),
    status: Type.Optional(Type.Enum(['ACTIVE', 'INACTIVE'])),
    validFrom: Type.Optional(TERMS.validFrom),
    validTo: removable(TERMS.validTo),
    perUserDailyLimit: removable(TERMS.perUserDailyLimit),
    coinsExpireAfterDays: removable(TERMS.coinsExpireAfterDays),
    activation: Type.Optional(
      Type.Unsafe<'CONFIRMATION' | null>({
        ...TERMS.activation,
        type: ['string', 'null'],
        enum: ['CONFIRMATION', null],
      }),
    ),
    activateAfterDays: removable(TERMS.activateAfterDays),
  },
  { additionalProperties: false },
)

/** The merge patch as the command has it: an absent field is absent, `null` stays `null`. */
export function readTerms(body: Static<typeof UpdateCoinConfigRequest>): CoinConfigTerms {
  const { validFrom, validTo, amount, perUserDailyLimit, ...same } = body
  return {
    ...same,
    ...(amount !== undefined && { amount: BigInt(amount) }),
    ...(validFrom !== undefined && { validFrom: readInstant('validFrom', validFrom) }),
    ...(validTo !== undefined && { validTo: validTo === null ? null : readInstant('validTo', validTo) }),
    ...(perUserDailyLimit !== undefined && {
      perUserDailyLimit: perUserDailyLimit === null ? null : BigInt(perUserDailyLimit),
    }),
  }
}

/** Not in the specification (decisions K3, K7). */
export const updateCoinConfigOperation = operation({
  ...ofCoins('coins:write'),
  id: 'updateCoinConfig',
  method: 'PATCH',
  path: '/api/v0/svc-coins/:coinConfigId',
  summary: 'Update coin configuration',
  description:
    'A merge patch (RFC 7396): fields that are left out stay, `null` removes one. `If-Match` with the `ETag` of the lookup is required, so that of two concurrent changes of a revision only the first succeeds. Coins that were awarded before keep their terms.',
  headers: { 'If-Match': { description: 'The `ETag` of the lookup, such as `"3"`.', required: true } },
  params: CoinConfigParams,
  body: UpdateCoinConfigRequest,
  result: CoinConfigRecord,
  errors: ['coin_config_not_found', 'coin_config_overlaps', 'revision_mismatch', 'revision_required'],
  run: updateCoinConfig,
  args: ({ caller, params, headers, body }) => ({
    partnerId: caller.tenantId,
    coinConfigId: params.coinConfigId,
    atRevision: readIfMatch(headers['if-match']),
    terms: readTerms(body),
  }),
  reply: ({ config }, { timeZone }) => ok(toWire(config, timeZone)),
})

/** Not in the specification (decision K3). */
export const deactivateCoinConfigOperation = operation({
  ...ofCoins('coins:write'),
  id: 'deactivateCoinConfig',
  method: 'POST',
  path: '/api/v0/svc-coins/:coinConfigId/deactivate',
  summary: 'Deactivate coin configuration',
  description:
    'Coins that were awarded stay. Deactivating again returns the same response. `If-Match` is optional here, since stopping awards does not depend on the current terms. An update with `status` `ACTIVE` reactivates it.',
  headers: { 'If-Match': 'The `ETag` of the lookup; when sent, it must be the current one' },
  params: CoinConfigParams,
  body: NoFields,
  result: CoinConfigRecord,
  errors: ['coin_config_not_found', 'revision_mismatch'],
  run: deactivateCoinConfig,
  args: ({ caller, params, headers }) => ({
    partnerId: caller.tenantId,
    coinConfigId: params.coinConfigId,
    atRevision: readIfMatch(headers['if-match']),
  }),
  reply: ({ config }, { timeZone }) => ok(toWire(config, timeZone)),
})
