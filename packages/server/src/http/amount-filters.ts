import { failField } from '@svc/contract/fail-fields'
import { readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { Type } from 'typebox'
import type { Filter } from './resource.ts'

const OR = new Intl.ListFormat('en', { type: 'disjunction', style: 'long' })

/**
 * The condition of a filter to which no index leads: among the rows of all tenants it is refused without one of the filters
 * that bound what is read.
 */
export const ofFew =
  (bounds: readonly string[], name: string, sql: Exclude<Filter['sql'], string>): Filter['sql'] =>
  (filters, value, given, scope) => {
    if (scope.tenantId === undefined && bounds.every((bound) => given[bound] === undefined))
      failField(name, 'not_allowed', `can only be sent together with ${OR.format(bounds)}`, 'query')
    sql(filters, value, given, scope)
  }

/** Filters by an amount in paise: exactly, from and to; operators send them with one of `bounds`. */
export function amountFilters(column: string, bounds: readonly string[]) {
  const filter = (name: string, comparison: string, description: string): Filter => ({
    schema: Type.Optional(
      Type.String({
        maxLength: 20,
        description: `Rupees, ${description}; of operators it needs ${OR.format(bounds.map((bound) => `\`${bound}\``))}`,
      }),
    ),
    sql: ofFew(bounds, name, (filters, amount) => {
      const paise = valueIn(readAmount(amount))
      filters.add(
        `${column} ${comparison} ?`,
        paise ?? failField(name, 'format', 'must be rupees such as 249.50', 'query'),
      )
    }),
  })
  return {
    amount: filter('amount', '=', 'exactly, such as `249.50`'),
    amountFrom: filter('amountFrom', '>=', 'this or more'),
    amountTo: filter('amountTo', '<=', 'this or less'),
  }
}
