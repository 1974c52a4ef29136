import createClient from 'openapi-fetch'
import { type ListLoader, listAt, onEveryCall, responseOf } from '../api.ts'
import type { components, paths } from './api-types.ts'

const BASE = '/portal/api/v0'
/** Where the operations are, for links. */
export const apiAt: string = BASE

type Api = { [Path in keyof paths as Path extends `${typeof BASE}${infer Rest}` ? Rest : never]: paths[Path] }

export type Schemas = components['schemas']

/** The portal's operations. Their failures are requested as problem details, which say what went wrong. */
export const api = createClient<Api>({
  baseUrl: window.location.origin + BASE,
  credentials: 'same-origin',
  headers: { 'x-svc-console': '1', accept: 'application/problem+json, application/json' },
})
api.use(...onEveryCall)

type Call = Parameters<typeof responseOf>[0]
/** Some operations return text too, such as CSV, which is not requested here. */
type PayloadIn<Data> = Data extends { payload: infer Payload } ? Payload : never

/** What the operations of tenants return inside their envelope; a failure is thrown. */
export async function payloadOf<C extends Call>(call: C): Promise<PayloadIn<Awaited<C>['data']>> {
  const data = (await responseOf(call)) as { payload: unknown }
  return data.payload as never
}

type Query = Record<string, string>

/** Loads pages of a list by its filters, which the page's address holds; the service checks them. */
export const listOf =
  <Row>(load: (query: Query) => Promise<{ data: readonly Row[]; next?: string }>): ListLoader<Row> =>
  (query) =>
    load(query)

/** A list by GET: filters go into the query string. */
export const getList = <Row>(path: string, always: Query = {}): ListLoader<Row> =>
  listOf(async (query) => {
    const params = { query: { limit: '25', ...query, ...always } }
    return payloadOf(api.GET(path as never, { params } as never)) as never
  })

/** The same of the portal's own operations, which have no envelope; `csv`: where it is exported as well. */
export function getOwnList<Row>(path: string, always: Query = {}, csv = false): ListLoader<Row> {
  const list = listAt(path as never, {}, always) as unknown as ListLoader<Row>
  return csv ? list : listOf(list)
}
