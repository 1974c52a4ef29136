import type { Filter } from '../http/resource.ts'
import { choiceFilter } from '../http/resource.ts'

/** Merchants or partners by whether they may call, where the column is their id. */
export const statusFilter = (column: string): Filter => ({
  schema: choiceFilter(['active', 'disabled']),
  sql(filters, status) {
    const disabled = `exists (select from tenants t where t.tenant_id = ${column} and t.disabled_at is not null)`
    filters.conditions.push(status === 'disabled' ? disabled : `not ${disabled}`)
  },
  operatorOnly: true,
})
