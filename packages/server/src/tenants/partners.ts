import { type Partner, PRODUCTS, partners } from '@svc/core/tenants/partner'
import { rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import { begins } from '../http/list.ts'
import { exactFilter, type Resource } from '../http/resource.ts'
import { statusFilter } from './merchants.ts'

const instant = Type.String({ description: 'RFC 3339 with milliseconds and zone offset' })

/** Partners, as operators see and find them; no partner lists itself. */
export const partner = {
  titles: { operator: 'Partner' },
  from: {
    columns: `${partners.columns}, t.disabled_at as "disabledAt"`,
    table: 'partners p',
    alias: 'p',
    joins: 'join tenants t on t.tenant_id = p.partner_id',
  },
  tenant: 'p.partner_id',
  keys: [{ sql: 'p.partner_id', type: 'text' }],
  sorts: {
    name: [
      { sql: '(lower(p.name) collate "C")', type: 'text' },
      { sql: 'p.partner_id', type: 'text' },
    ],
  },
  fields: {
    partnerId: { schema: Type.String(), of: ({ partnerId }) => partnerId },
    name: { schema: Type.String(), of: ({ name }) => name },
    products: { schema: Type.Array(Type.Enum([...PRODUCTS])), of: ({ products }) => products },
    plainRequests: {
      schema: Type.Boolean({ description: 'Sandbox only: its requests need not be encrypted' }),
      of: ({ plainRequests }) => plainRequests,
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
      schema: exactFilter('Id, or begin of the name', 100),
      sql: (filters, q) =>
        filters.add(
          `(p.partner_id = ? or lower(p.name) collate "C" like lower(${filters.param(begins(q))}))`,
          q,
        ),
      operatorOnly: true,
    },
    status: statusFilter('p.partner_id'),
  },
} satisfies Resource<Partner>
