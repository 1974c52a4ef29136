import { type Merchant, merchants } from '@svc/core/tenants/merchant'
import { rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import { begins } from '../http/list.ts'
import { choiceFilter, exactFilter, type Filter, type Resource } from '../http/resource.ts'

const instant = Type.String({ description: 'RFC 3339 with milliseconds and zone offset' })

/** Merchants or partners by whether they may call, where the column is their id. */
export const statusFilter = (column: string): Filter => ({
  schema: choiceFilter(['active', 'disabled']),
  sql(filters, status) {
    const disabled = `exists (select from tenants t where t.tenant_id = ${column} and t.disabled_at is not null)`
    filters.conditions.push(status === 'disabled' ? disabled : `not ${disabled}`)
  },
  operatorOnly: true,
})

/** Merchants, as operators see and find them; no merchant lists itself. */
export const merchant = {
  titles: { operator: 'Merchant' },
  from: {
    columns: `${merchants.columns}, t.disabled_at as "disabledAt"`,
    table: 'merchants m',
    alias: 'm',
    joins: 'join tenants t on t.tenant_id = m.merchant_id',
  },
  tenant: 'm.merchant_id',
  keys: [{ sql: 'm.merchant_id', type: 'text' }],
  sorts: {
    name: [
      { sql: '(lower(m.name) collate "C")', type: 'text' },
      { sql: 'm.merchant_id', type: 'text' },
    ],
  },
  fields: {
    merchantId: { schema: Type.String(), of: ({ merchantId }) => merchantId },
    name: { schema: Type.String(), of: ({ name }) => name },
    vpa: { schema: Type.String(), of: ({ vpa }) => vpa },
    mcc: { schema: Type.String({ description: 'Merchant category code, ISO 18245' }), of: ({ mcc }) => mcc },
    nextVpa: {
      schema: Type.Optional(
        Type.String({
          description: 'The address that takes the place of `vpa` when its waiting time is over',
        }),
      ),
      of: ({ nextVpa }) => nextVpa,
    },
    nextVpaOn: {
      schema: Type.Optional(instant),
      of: ({ nextVpaFrom }, timeZone) => nextVpaFrom && rfc3339(nextVpaFrom, timeZone),
    },
    accessKey: {
      schema: Type.String({ description: 'Public half of its credentials; authorises nothing' }),
      of: ({ accessKey }) => accessKey,
    },
    linkedPartnerId: {
      schema: Type.Optional(Type.String({ description: 'The partner whose coin configurations it reads' })),
      of: ({ linkedPartnerId }) => linkedPartnerId,
    },
    status: {
      schema: Type.Enum(['active', 'disabled']),
      of: ({ disabledAt }) => (disabledAt ? 'disabled' : 'active'),
    },
    createdOn: { schema: instant, of: ({ createdAt }, timeZone) => rfc3339(createdAt, timeZone) },
    disabledOn: {
      schema: Type.Optional(instant),
      of: ({ disabledAt }, timeZone) => disabledAt && rfc3339(disabledAt, timeZone),
    },
  },
  filters: {
    q: {
      schema: exactFilter('Id, begin of the name, or begin of the VPA', 255),
      sql(filters, q) {
        const begin = filters.param(begins(q))
        filters.add(
          `(m.merchant_id = ? or lower(m.name) collate "C" like lower(${begin}) or lower(m.vpa) collate "C" like lower(${begin}))`,
          q,
        )
      },
      operatorOnly: true,
    },
    status: statusFilter('m.merchant_id'),
  },
} satisfies Resource<Merchant>
