import { fail } from '@svc/contract/errors'
import { accountId } from '@svc/core/ledger/accounts'
import {
  createMerchant,
  findMerchant,
  type Merchant,
  merchants,
  registerMerchant,
  setMerchantDisabled,
  updateMerchant,
} from '@svc/core/tenants/merchant'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { sqlState } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { begins, Filters, readList } from '@svc/server/http/list'
import { query } from '@svc/server/http/operation'
import {
  MCC_PATTERN,
  PAYEE_NAME_PATTERN,
  PAYEE_NAME_RULE,
  STORED_VALUE_LOAD_MCC,
  VPA_PATTERN,
} from '@svc/upi-qr/upi-uri'
import { Type } from 'typebox'
import { asOperator, keyMakerOf } from './as-operator.ts'
import {
  BY_TIME_OR_NAME,
  CONSOLE_API,
  closed,
  consoleOperation,
  exact,
  idParam,
  instant,
  listOf,
  listQuery,
  maybe,
  maybeInstant,
  oneOf,
  record,
  rupeesText,
  text,
} from './console-schema.ts'
import { IssuedRecord, issuedToWire } from './credential-records.ts'
import { checkEnabling, ENABLING } from './enable-tenant.ts'
import { keyedQuery, onceAsOperator } from './once.ts'
import { showsSecrets } from './sandbox-secret.ts'

const TAG = 'Merchants'
const PATH = `${CONSOLE_API}/merchants`
const params = idParam('merchantId')
const fields = {
  merchantId: text(),
  name: text(),
  vpa: text(),
  mcc: text('Merchant category code, ISO 18245'),
  nextVpa: maybe('The address that takes the place of `vpa` when its waiting time is over'),
  nextVpaOn: maybeInstant,
  accessKey: text('Public half of its credentials; authorises nothing'),
  linkedPartnerId: maybe('The partner whose coin configurations it reads'),
  status: Type.Enum(['active', 'disabled']),
  createdOn: instant,
  disabledOn: maybeInstant,
}
const MerchantRecord = record('Merchant', fields)
const toWire = (merchant: Merchant, timeZone: string) => ({
  merchantId: merchant.merchantId,
  name: merchant.name,
  vpa: merchant.vpa,
  mcc: merchant.mcc,
  nextVpa: merchant.nextVpa ?? undefined,
  nextVpaOn: merchant.nextVpaFrom ? rfc3339(merchant.nextVpaFrom, timeZone) : undefined,
  accessKey: merchant.accessKey,
  linkedPartnerId: merchant.linkedPartnerId ?? undefined,
  status: merchant.disabledAt ? 'disabled' : 'active',
  createdOn: rfc3339(merchant.createdAt, timeZone),
  disabledOn: merchant.disabledAt ? rfc3339(merchant.disabledAt, timeZone) : undefined,
})

const BALANCE = statement<{ balance: bigint }>(
  'console_account_balance',
  'select balance from ledger_accounts where account_id = $1',
)
export const listMerchants = query({
  ...consoleOperation,
  id: 'console.listMerchants',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List merchants',
  permission: 'view',
  query: listQuery(BY_TIME_OR_NAME, {
    q: exact('Id, begin of the name, or begin of the VPA', 255),
    status: oneOf(['active', 'disabled'], 'Only these'),
  }),
  result: listOf(MerchantRecord),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const { q, sort = '-created', status } = query
      const filters = new Filters()
      if (q !== undefined) {
        const begin = filters.param(begins(q))
        filters.add(
          `(m.merchant_id = ? or lower(m.name) collate "C" like lower(${begin}) or lower(m.vpa) collate "C" like lower(${begin}))`,
          q,
        )
      }
      const disabled =
        'exists (select from tenants t where t.tenant_id = m.merchant_id and t.disabled_at is not null)'
      if (status !== undefined) filters.conditions.push(status === 'disabled' ? disabled : `not ${disabled}`)
      const byId = { sql: 'm.merchant_id', type: 'text' } as const
      const plan = {
        columns: `${merchants.columns}, t.disabled_at as "disabledAt"`,
        table: 'merchants m',
        alias: 'm',
        joins: 'join tenants t on t.tenant_id = m.merchant_id',
        filters,
        keys:
          sort === 'name' ? [{ sql: '(lower(m.name) collate "C")', type: 'text' } as const, byId] : [byId],
        descending: sort === '-created',
      }
      const page = await database.report((tx) =>
        readList(tx, plan, query, (row: Merchant) => toWire(row, timeZone)),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

export const showMerchant = query({
  ...consoleOperation,
  id: 'console.showMerchant',
  method: 'GET',
  path: `${PATH}/:merchantId`,
  tag: TAG,
  summary: 'Show merchant',
  permission: 'view',
  params,
  result: record('MerchantDetail', {
    ...fields,
    payable: rupeesText,
    payableAccountId: text('Ledger account of what it is owed'),
  }),
  errors: ['merchant_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { merchantId } }) => {
      const payableAccountId = accountId('payable', merchantId)
      const detail = await database.operate(async (tx) => {
        const merchant = (await findMerchant(tx, merchantId)) ?? fail('merchant_not_found')
        const [payable] = await tx.query(BALANCE, [payableAccountId])
        return {
          ...toWire(merchant, timeZone),
          payable: formatRupees(payable?.balance ?? 0n),
          payableAccountId,
        }
      })
      return { body: JSON.stringify(detail) }
    }
  },
})

const Data = {
  name: Type.String({
    pattern: PAYEE_NAME_PATTERN,
    'x-rule': PAYEE_NAME_RULE,
  }),
  vpa: Type.String({ maxLength: 255, pattern: VPA_PATTERN, 'x-rule': 'must look like name@handle' }),
  mcc: Type.String({ pattern: MCC_PATTERN, 'x-rule': 'must be four digits' }),
}

/** What the database says of an address that another merchant has, as the caller's mistake. */
function vpaTaken(error: unknown): never {
  if (sqlState(error) === '23505')
    fail('already_exists', { description: 'vpa: another merchant has this address' })
  throw error
}

export const createMerchantInConsole = keyedQuery({
  ...consoleOperation,
  id: 'console.createMerchant',
  stepUp: true,
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Create merchant, in sandbox mode with a first API key',
  description: 'In live mode a hand-over issues its keys (decision O8).',
  permission: 'operations',
  body: closed(Data),
  result: closed({ merchant: MerchantRecord, credential: Type.Optional(IssuedRecord) }),
  errors: ['already_exists', 'mcc_not_allowed'],
  mount(services) {
    return async (input) => {
      const { name, vpa, mcc } = input.body
      if (mcc === STORED_VALUE_LOAD_MCC) fail('mcc_not_allowed')
      return onceAsOperator(services, { method: 'POST', path: PATH }, input, async (tx) => {
        const wanted = { name, vpa, mcc }
        const maker = keyMakerOf(services)
        const { merchant, apiKey } = showsSecrets(services.config)
          ? await createMerchant(tx, maker, wanted)
          : { merchant: await registerMerchant(tx, maker, wanted), apiKey: undefined }
        return {
          merchant: toWire(merchant, services.config.BUSINESS_TIME_ZONE),
          credential: apiKey && issuedToWire({ ...apiKey, credentialId: apiKey.apiKeyId }),
        }
      }).catch(vpaTaken)
    }
  },
})

export const editMerchant = query({
  ...consoleOperation,
  id: 'console.editMerchant',
  stepUp: true,
  method: 'PATCH',
  path: `${PATH}/:merchantId/data`,
  tag: TAG,
  summary: 'Change name, payment address or category of a merchant',
  description:
    'For the QR codes that it creates from then on; codes that are printed keep what they say. Name and category hold at once. A new address waits for `APPROVER_COOLING_DAYS`, and the merchant is notified: until then it can be taken back, by the merchant too. The present address as the new one takes back what waits.',
  permission: 'operations',
  params,
  body: closed({
    name: Type.Optional(Data.name),
    vpa: Type.Optional(Data.vpa),
    mcc: Type.Optional(Data.mcc),
  }),
  result: MerchantRecord,
  errors: ['merchant_not_found', 'already_exists', 'mcc_not_allowed'],
  mount(services) {
    return async (input) => {
      const { params, body } = input
      if (body.mcc === STORED_VALUE_LOAD_MCC) fail('mcc_not_allowed')
      const changed = await asOperator(services, input, (tx) =>
        updateMerchant(tx, params.merchantId, body),
      ).catch(vpaTaken)
      const merchant = changed ?? fail('merchant_not_found')
      return { body: JSON.stringify(toWire(merchant, services.config.BUSINESS_TIME_ZONE)) }
    }
  },
})

export const changeMerchant = query({
  ...consoleOperation,
  id: 'console.changeMerchant',
  method: 'PATCH',
  path: `${PATH}/:merchantId`,
  tag: TAG,
  summary: 'Disable or enable merchant',
  description: ENABLING,
  permission: 'operations',
  params,
  body: closed({ disabled: Type.Boolean() }),
  result: MerchantRecord,
  errors: ['merchant_not_found', 'step_up_required'],
  mount(services) {
    return async (input) => {
      const { params, body } = input
      const merchant = await asOperator(services, input, async (tx) => {
        if (!body.disabled) await checkEnabling(tx, input.caller, params.merchantId)
        return setMerchantDisabled(tx, params.merchantId, body.disabled)
      })
      return {
        body: JSON.stringify(
          toWire(merchant ?? fail('merchant_not_found'), services.config.BUSINESS_TIME_ZONE),
        ),
      }
    }
  },
})
