import * as fc from 'fast-check'
import { type JwePlan, jwePlan } from './jwes.ts'
import type { Documented } from './operations.ts'
import { type BodyPlan, bodyOf } from './plan-bodies.ts'
import { type Credential, credential, documentedHeaders, extraHeaders } from './plan-headers.ts'
import { pathOf, queryOf } from './plan-urls.ts'

/** What fast-check draws and shrinks: a request as text, with placeholders for ids until it is sent. */
export interface Plan {
  readonly path: string
  readonly query: string
  readonly tenant: number
  readonly credential: Credential
  readonly headers: readonly (readonly [string, string])[]
  readonly body: BodyPlan | undefined
  readonly jwe: JwePlan | undefined
}

export function planOf(operation: Documented): fc.Arbitrary<Plan> {
  const encrypted = Object.values(operation.bodies).some(({ schema }) => schema.contentSchema)
  return fc.record({
    path: pathOf(operation),
    query: queryOf(operation),
    tenant: fc.nat(5),
    credential,
    headers: fc.tuple(documentedHeaders(operation), extraHeaders).map(([good, more]) => [...good, ...more]),
    body: bodyOf(operation),
    jwe: encrypted ? fc.option(jwePlan, { nil: undefined, freq: 12 }) : fc.constant(undefined),
  })
}

/** A plan with good credentials, in which some of the ids, at least one, are another tenant's. */
export const foreignPlanOf = (operation: Documented): fc.Arbitrary<Plan> =>
  fc.tuple(planOf(operation), fc.integer({ min: 1, max: 255 })).map(([plan, bits]) => {
    let n = 0
    const foreign = (text: string) =>
      text.replace(/(@\w+:\d+):(?:own|other)@/g, (id, what: string) =>
        (bits >> (n++ % 8)) & 1 ? `${what}:victim@` : id,
      )
    const { body } = plan
    return {
      ...plan,
      credential: { kind: 'own' },
      path: foreign(plan.path),
      query: foreign(plan.query),
      body: body && { ...body, text: foreign(body.text) },
    }
  })
