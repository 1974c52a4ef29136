import { fail } from '@svc/contract/errors'
import { findTenant } from '@svc/core/tenants/tenant'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { asOperator } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  instant,
  reasonText,
  record,
  rupeesText,
  text,
} from '../console-schema.ts'
import { findClosing, leftOpen, listClosings, OPEN, startClosing } from '../tenant-closing.ts'

const TAG = 'Closing of tenants'
const PATH = `${CONSOLE_API}/tenants/:tenantId/closing`
const params = idParam('tenantId')

const ClosingRecord = record('Closing', {
  closingOn: Type.Optional(instant),
  closedOn: Type.Optional(instant),
  left: Type.Array(
    closed({
      what: Type.Enum(OPEN.map(({ what }) => what)),
      count: Type.Optional(Type.Integer()),
      amount: Type.Optional(rupeesText),
    }),
    { description: 'What is still open, and keeps it from being closed' },
  ),
})

async function closingOf(tx: Tx, tenantId: string, timeZone: string) {
  if (!(await findTenant(tx, tenantId))) fail('tenant_not_found')
  const closing = await findClosing(tx, tenantId)
  return {
    ...(closing && { closingOn: rfc3339(closing.closingAt, timeZone) }),
    ...(closing?.closedAt && { closedOn: rfc3339(closing.closedAt, timeZone) }),
    left: await leftOpen(tx, tenantId),
  }
}

export const showClosing = query({
  ...consoleOperation,
  id: 'console.showClosing',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'Show what keeps a tenant from being closed',
  permission: 'view',
  params,
  result: ClosingRecord,
  errors: ['tenant_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { tenantId } }) => ({
      body: JSON.stringify(await database.operate((tx) => closingOf(tx, tenantId, timeZone))),
    })
  },
})

export const listTenantClosings = query({
  ...consoleOperation,
  id: 'console.listTenantClosings',
  method: 'GET',
  path: `${CONSOLE_API}/closings`,
  tag: TAG,
  summary: 'List tenants that are closing',
  permission: 'view',
  query: closed({
    status: Type.Optional(
      Type.Enum(['closing', 'all'], {
        description: '`closing` by default; `all`: and those that are closed',
      }),
    ),
  }),
  result: closed({
    data: Type.Array(
      record('TenantClosing', {
        tenantId: text(),
        kind: Type.Enum(['merchant', 'partner']),
        closingOn: instant,
        closedOn: Type.Optional(instant),
      }),
      { description: 'Newest first' },
    ),
  }),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query: { status } }) => {
      const found = await database.operate((tx) => listClosings(tx, status === 'all'))
      const data = found.map(({ closingAt, closedAt, ...tenant }) => ({
        ...tenant,
        closingOn: rfc3339(closingAt, timeZone),
        closedOn: closedAt ? rfc3339(closedAt, timeZone) : undefined,
      }))
      return { body: JSON.stringify({ data }) }
    }
  },
})

export const closeTenant = query({
  ...consoleOperation,
  id: 'console.closeTenant',
  stepUp: true,
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Close tenant',
  description:
    'Disables it for good, revokes its credentials, and in the background cancels its codes; once nothing is open any more it is closed (decision A14). Enabling it ends the closing.',
  permission: 'administer',
  params,
  body: closed({ reason: reasonText() }),
  result: ClosingRecord,
  errors: ['tenant_not_found'],
  mount(services) {
    return async (input) => {
      const { tenantId } = input.params
      const closing = await asOperator(services, input, async (tx) => {
        if (!(await startClosing(tx, tenantId, input.body.reason))) fail('tenant_not_found')
        return closingOf(tx, tenantId, services.config.BUSINESS_TIME_ZONE)
      })
      return { body: JSON.stringify(closing) }
    }
  },
})
