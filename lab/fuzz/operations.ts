import { inlined, schemeOf } from '../../test/harness/documents.ts'
import type { Schema } from './json-text.ts'
import type { Target } from './target.ts'

/** An operation as the OpenAPI document describes it. */
export interface Documented {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly scheme: string | undefined
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[]
  readonly bodies: Readonly<Record<string, { readonly schema: Schema }>>
  readonly statuses: ReadonlySet<number>
}

export function operationsOf({ document }: Pick<Target, 'document'>): Documented[] {
  const operations: Documented[] = []
  for (const [path, methods] of Object.entries<Record<string, Target['document']>>(
    (inlined(document) as Target['document']).paths,
  ))
    for (const [method, { operationId, security, parameters = [], requestBody, responses }] of Object.entries(
      methods,
    ))
      operations.push({
        id: operationId,
        method: method.toUpperCase(),
        path,
        scheme: schemeOf(security, parameters),
        parameters,
        bodies: requestBody?.content ?? {},
        statuses: new Set(Object.keys(responses).map(Number)),
      })
  return operations
}
