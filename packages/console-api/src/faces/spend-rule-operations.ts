import { fail } from '@svc/contract/errors'
import type { SpendRule } from '@svc/core/cards/rules/spend-rule'
import { findPartner } from '@svc/core/tenants/partner'
import {
  BacktestRecord,
  BacktestRequest,
  backtester,
  createSpendRuleContract,
  removeSpendRuleContract,
  spendRule,
} from '@svc/server/cards/spend-rules'
import { query, type Services } from '@svc/server/http/operation'
import { findRow, listOf, showOf } from '@svc/server/http/resource'
import { Type } from 'typebox'
import { CONSOLE_API, consoleOperation, idParam } from '../console-schema.ts'
import { onBehalf } from '../on-behalf.ts'

const RULES = `${CONSOLE_API}/spend-rules`
const OPERATOR = { reader: 'operator' } as const
const partnerId = Type.String({ maxLength: 128, description: 'The partner whose cards it is about' })

const view = { ...consoleOperation, tag: 'Cards', permission: 'view' } as const

export const listSpendRulesInConsole = listOf<SpendRule>(spendRule, {
  ...view,
  id: 'console.listSpendRules',
  path: RULES,
  summary: 'List spend rules of all partners',
})

export const showSpendRule = showOf<SpendRule>(spendRule, {
  ...view,
  id: 'console.showSpendRule',
  path: `${RULES}/:spendRuleId`,
  summary: 'Show spend rule',
  params: idParam('spendRuleId'),
  errors: ['spend_rule_not_found'],
  notFound: () => fail('spend_rule_not_found'),
})

const requirePartner = async ({ database }: Services, id: string): Promise<string> =>
  ((await database.operate((tx) => findPartner(tx, id))) ?? fail('partner_not_found')).partnerId

export const createSpendRuleInConsole = onBehalf(createSpendRuleContract, {
  id: 'console.createSpendRule',
  path: RULES,
  permission: 'operations',
  given: { partnerId },
  errors: ['partner_not_found'],
  tenantOf: ({ body }, services) =>
    requirePartner(services, (body as typeof body & { readonly partnerId: string }).partnerId),
  target: ({ rule }) => rule.spendRuleId,
})

export const removeSpendRuleInConsole = onBehalf(removeSpendRuleContract, {
  id: 'console.removeSpendRule',
  path: `${RULES}/:spendRuleId`,
  permission: 'operations',
  tenantOf: async ({ params: { spendRuleId } }, { database }: Services) =>
    (
      (await database.operate((tx) => findRow<SpendRule>(tx, spendRule, OPERATOR, spendRuleId))) ??
      fail('spend_rule_not_found')
    ).partnerId,
  target: ({ rule }) => rule.spendRuleId,
})

export const backtestSpendRulesInConsole = query({
  ...view,
  id: 'console.backtestSpendRules',
  method: 'POST',
  path: `${RULES}/backtest`,
  summary: 'Backtest spend rules of a partner',
  description:
    'Says what other spend rules would have changed of the recorded authorisations of the last 90 days. Changes nothing.',
  safe: true,
  takesLong: true,
  body: Type.Object({ partnerId, ...BacktestRequest.properties }, { additionalProperties: false }),
  result: BacktestRecord,
  errors: ['partner_not_found', 'backtest_too_large'],
  mount(services) {
    const backtest = backtester(services)
    return async ({ body: { partnerId: tenantId, ...body } }) => ({
      body: JSON.stringify(await backtest(await requirePartner(services, tenantId), body)),
    })
  },
})
