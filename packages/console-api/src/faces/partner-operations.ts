import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { issueSharedKey, listJweKeys, registerPublicKey, retireJweKey } from '@svc/core/tenants/jwe-keys'
import {
  createPartner,
  findPartner,
  type Partner,
  PRODUCTS,
  type Product,
  registerPartner,
} from '@svc/core/tenants/partner'
import { setTenantDisabled } from '@svc/core/tenants/tenant'
import { UnusableJweKey } from '@svc/jwe/keys'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { sqlState, type Tx } from '@svc/platform/db/database'
import { query } from '@svc/server/http/operation'
import { fieldsOf, listOf, type Resource, recordOf, toRecord } from '@svc/server/http/resource'
import { partner } from '@svc/server/tenants/partners'
import { Type } from 'typebox'
import { asOperator, keyMakerOf } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  instant,
  maybeInstant,
  Name,
  record,
  text,
} from '../console-schema.ts'
import { keyedQuery, onceAsOperator } from '../once.ts'
import { IssuedRecord, issuedToWire } from './credential-records.ts'
import { checkEnabling, ENABLING } from './enable-tenant.ts'
import { LATELY, LATELY_TEXT, SUMS } from './figure-sources.ts'
import { requireShown, showingSecret, shownSecret, showsSecrets } from './sandbox-secret.ts'

const TAG = 'Partners'
const PATH = `${CONSOLE_API}/partners`
const params = idParam('partnerId')
const id = Type.String({ maxLength: 128 })
const PartnerRecord = recordOf(partner, 'operator')
/** An encryption key without its material. */
export const JweKeyRecord = record('JweKey', {
  kid: text(),
  kind: Type.Enum(['shared', 'public']),
  alg: text(),
  createdOn: instant,
  retiredOn: maybeInstant,
})
const toWire = toRecord<Partner>(partner, 'operator')

const requirePartner = async (tx: Tx, partnerId: string): Promise<Partner> =>
  (await findPartner(tx, partnerId)) ?? fail('partner_not_found')

/** A partner with what is left to load cards with, and what its cards spent lately. */
type ListedPartner = Partner & { readonly balancePaise: bigint; readonly spentPaise: bigint }

const listedPartner = {
  ...partner,
  titles: { operator: 'PartnerRow' },
  from: {
    ...partner.from,
    columns: `${partner.from.columns}, f.balance as "balancePaise", w.spent as "spentPaise"`,
    // A range of ids, so that the accounts of its cards are not read.
    joins: `${partner.from.joins} cross join lateral (
        select coalesce(sum(l.balance), 0)::bigint as balance from ledger_accounts l
        where l.tenant_id = p.partner_id and l.account_id >= 'card_funding:' and l.account_id < 'card_funding;') f
      cross join lateral (
        select coalesce(sum(t.amount_paise), 0)::bigint as spent from card_transactions t
        where t.partner_id = p.partner_id and ${SUMS.card_spend.source.where} and ${LATELY('t.created_at')}) w`,
  },
  fields: {
    ...partner.fields,
    spent: {
      schema: Type.String({ description: `Rupees that its cards spent, ${LATELY_TEXT}` }),
      of: ({ spentPaise }) => formatRupees(spentPaise),
    },
    balance: {
      schema: Type.String({ description: 'Rupees on its card accounts' }),
      of: ({ balancePaise }) => formatRupees(balancePaise),
    },
  },
} satisfies Resource<ListedPartner>

export const listPartnersInConsole = listOf<ListedPartner>(listedPartner, {
  ...consoleOperation,
  id: 'console.listPartners',
  path: PATH,
  tag: TAG,
  summary: 'List partners',
  permission: 'view',
})

export const showPartner = query({
  ...consoleOperation,
  id: 'console.showPartner',
  method: 'GET',
  path: `${PATH}/:partnerId`,
  tag: TAG,
  summary: 'Show partner, with its encryption keys',
  permission: 'view',
  params,
  result: record('PartnerDetail', {
    ...fieldsOf(partner, 'operator'),
    jweKeys: Type.Array(JweKeyRecord),
  }),
  errors: ['partner_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    const on = (at: Date | null) => (at ? rfc3339(at, timeZone) : undefined)
    return async ({ params: { partnerId } }) => {
      const detail = await database.operate(async (tx) => ({
        ...toWire(await requirePartner(tx, partnerId), timeZone),
        jweKeys: (await listJweKeys(tx, partnerId)).map(({ createdAt, retiredAt, ...key }) => ({
          ...key,
          createdOn: on(createdAt),
          retiredOn: on(retiredAt),
        })),
      }))
      return { body: JSON.stringify(detail) }
    }
  },
})

export const createPartnerInConsole = keyedQuery({
  ...consoleOperation,
  id: 'console.createPartner',
  stepUp: true,
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Create partner, in sandbox mode with a first OAuth client',
  permission: 'operations',
  body: closed({
    name: Name,
    products: Type.Array(Type.Enum([...PRODUCTS]), {
      minItems: 1,
      maxItems: PRODUCTS.length,
      uniqueItems: true,
    }),
    plainRequests: Type.Optional(Type.Boolean({ description: 'Sandbox only' })),
    firstClient: Type.Optional(
      Type.Boolean({
        description: 'Sandbox only; true by default there. In live mode a hand-over issues it (decision O8)',
      }),
    ),
  }),
  result: closed({ partner: PartnerRecord, credential: Type.Optional(IssuedRecord) }),
  errors: ['secret_not_shown'],
  mount(services) {
    const { config } = services
    return async (input) => {
      const { name, plainRequests = false, firstClient = showsSecrets(config) } = input.body
      if (firstClient) requireShown(config)
      if (plainRequests && config.SVC_MODE !== 'sandbox')
        failField('plainRequests', 'not_allowed', 'is accepted in sandbox mode only')
      const products = input.body.products as Product[]
      const wanted = { name, products, plainRequests }
      const maker = keyMakerOf(services)
      return onceAsOperator(services, { method: 'POST', path: PATH }, input, async (tx) => {
        const { partner, client } = firstClient
          ? await createPartner(tx, maker, wanted)
          : { partner: await registerPartner(tx, maker, wanted), client: undefined }
        const credential =
          client && issuedToWire({ credentialId: client.clientId, secret: client.clientSecret })
        return { partner: toWire(partner, config.BUSINESS_TIME_ZONE), credential }
      })
    }
  },
})

export const changePartner = query({
  ...consoleOperation,
  id: 'console.changePartner',
  method: 'PATCH',
  path: `${PATH}/:partnerId`,
  tag: TAG,
  summary: 'Disable or enable partner',
  description: ENABLING,
  permission: 'operations',
  params,
  body: closed({ disabled: Type.Boolean() }),
  result: PartnerRecord,
  errors: ['partner_not_found', 'step_up_required'],
  mount(services) {
    return async (input) => {
      const { params, body } = input
      const partner = await asOperator(services, input, async (tx) => {
        if (!body.disabled) await checkEnabling(tx, input.caller, params.partnerId)
        await setTenantDisabled(tx, params.partnerId, 'partner', body.disabled)
        return requirePartner(tx, params.partnerId)
      })
      return { body: JSON.stringify(toWire(partner, services.config.BUSINESS_TIME_ZONE)) }
    }
  },
})

const KEYS = `${PATH}/:partnerId/encryption-keys`

/** A shared key as its partner needs it to encrypt. */
export const IssuedKey = record('IssuedJweKey', {
  kty: text(),
  kid: text(),
  alg: text(),
  enc: text(),
  k: text('The secret, base64url; shown here and never again'),
})

export const issueJweKey = showingSecret(
  keyedQuery({
    ...consoleOperation,
    id: 'console.issueEncryptionKey',
    stepUp: true,
    method: 'POST',
    path: KEYS,
    tag: TAG,
    summary: 'Issue shared encryption key',
    permission: 'operations',
    params,
    result: IssuedKey,
    errors: ['partner_not_found'],
    mount(services) {
      return async (input) => {
        const { partnerId } = input.params
        return onceAsOperator(services, { method: 'POST', path: KEYS }, input, async (tx) => {
          await requirePartner(tx, partnerId)
          const { k, ...key } = await issueSharedKey(tx, keyMakerOf(services), partnerId)
          return { ...key, k: shownSecret(k, services.config) }
        })
      }
    },
  }),
)

/** What the key itself or the database says against it, as the caller's mistake. */
function unusable(error: unknown): never {
  if (error instanceof UnusableJweKey) failField('jwk', 'invalid', `cannot serve. ${error.message}`)
  if (sqlState(error) === '23505')
    fail('already_exists', { description: 'The partner has a key with this kid already' })
  throw error
}

const PUBLIC_KEYS = `${KEYS}/public`

export const registerJweKey = keyedQuery({
  ...consoleOperation,
  id: 'console.registerEncryptionKey',
  stepUp: true,
  method: 'POST',
  path: PUBLIC_KEYS,
  tag: TAG,
  summary: 'Register public encryption key of a partner',
  description:
    'Responses are encrypted to the first one at once, and to a further one when the previous one is retired (decision C3).',
  permission: 'operations',
  params,
  body: closed({
    jwk: Type.Object({}, { additionalProperties: true, description: 'A public key, RFC 7517' }),
  }),
  result: record('RegisteredJweKey', { kid: text(), alg: text(), enc: text() }),
  errors: ['partner_not_found', 'already_exists'],
  mount(services) {
    return async (input) => {
      const { partnerId } = input.params
      return onceAsOperator(services, { method: 'POST', path: PUBLIC_KEYS }, input, async (tx) => {
        await requirePartner(tx, partnerId)
        const { kid, alg, enc } = await registerPublicKey(tx, partnerId, input.body.jwk)
        return { kid, alg, enc }
      }).catch(unusable)
    }
  },
})

export const retireJweKeyInConsole = query({
  ...consoleOperation,
  id: 'console.retireEncryptionKey',
  stepUp: true,
  method: 'DELETE',
  path: `${PATH}/:partnerId/encryption-keys/:kid`,
  tag: TAG,
  summary: 'Retire encryption key',
  description: 'For good; within a second nothing encrypted with it is opened any more.',
  permission: 'operations',
  params: Type.Object({ partnerId: id, kid: Type.String({ maxLength: 256 }) }),
  result: closed({ kid: text(), retiredOn: instant }),
  errors: ['credential_not_found'],
  mount(services) {
    return async (input) => {
      const { partnerId, kid } = input.params
      const retired = await asOperator(services, input, (tx) => retireJweKey(tx, partnerId, kid))
      const { retiredAt } = retired ?? fail('credential_not_found')
      return {
        body: JSON.stringify({ kid, retiredOn: rfc3339(retiredAt, services.config.BUSINESS_TIME_ZONE) }),
      }
    }
  },
})
