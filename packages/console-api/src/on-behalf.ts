import type { CommandAudit } from '@svc/platform/audit'
import {
  type CommandContract,
  type Input,
  type Operation,
  operation,
  type Services,
} from '@svc/server/http/operation'
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { auditOf } from './as-operator.ts'
import { consoleOperation } from './console-schema.ts'

/** Where the console has an operation of tenants, and whose tenant it is for. */
export interface Behalf<P extends TSchema, Q extends TSchema, B extends TSchema, D>
  extends Pick<Operation, 'id' | 'path'> {
  readonly permission: string
  /** The action in the audit, where the command names none. */
  readonly action?: string
  readonly stepUp?: true
  /** Fields of the body besides the tenant's own, such as the tenant. */
  readonly given?: TProperties
  /** Parameters of the path, where the tenant’s own has none. */
  readonly params?: TSchema
  /** More errors than the tenant gets. */
  readonly errors?: Operation['errors']
  readonly tenantOf: (input: Input<Static<P>, Static<Q>, Static<B>>, services: Services) => Promise<string>
  readonly target: CommandAudit<D>['target']
}

const withFields = ({ properties }: TObject, given: TProperties) =>
  Type.Object({ ...given, ...properties }, { additionalProperties: false })

/** An operation of tenants once more, for operators: the same schema, rules, command and record (decision O1). */
export const onBehalf = <P extends TSchema, Q extends TSchema, B extends TSchema, Args, D>(
  contract: CommandContract<P, Q, B, Args, D>,
  { tenantOf, target, action, errors = [], given, params, ...face }: Behalf<P, Q, B, D>,
): Operation<Services> => {
  // Header fields of tenants say who calls.
  const { scope: _scope, headers: _headers, ...shared } = contract
  const tenants = new WeakMap<object, string>()
  return operation<P, Q, B, Args, D>({
    ...shared,
    ...consoleOperation,
    ...face,
    ...(params && { params: params as P }),
    ...(given && { body: withFields(contract.body as unknown as TObject, given) as TSchema as B }),
    errors: [...contract.errors, ...errors],
    args: async (input, services) => {
      const tenantId = await tenantOf(input, services)
      const args = await contract.args({ ...input, caller: { ...input.caller, tenantId } }, services)
      tenants.set(args as object, tenantId)
      return args
    },
    audit: (args, input) =>
      auditOf(tenants.get(args as object)!, input, { target, ...(action !== undefined && { action }) }),
  } as CommandContract<P, Q, B, Args, D>)
}
