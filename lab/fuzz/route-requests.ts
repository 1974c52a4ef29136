import { documentedOperations } from '../../test/harness/documents.ts'
import { type RoutePlan, spelled } from './routes.ts'
import { headersOf, type Target, type Tenant } from './target.ts'

/** A path of the documents, or of the pages. */
interface Place {
  readonly path: string
  readonly method: string
  readonly scheme: string | undefined
}

const PAGES = [
  '/',
  '/docs',
  '/docs/',
  '/docs/none.js',
  '/docs/errors',
  '/openapi.json',
  '/console',
  '/console/',
  '/console/qr-codes',
  '/console/assets/none.js',
  '/console/index.html',
  '/console/api',
  '/favicon.ico',
]
const OPERATIONS = documentedOperations()
const PLACES: readonly Place[] = [
  ...OPERATIONS,
  ...PAGES.map((path) => ({ path, method: 'GET', scheme: undefined })),
]
const METHODS = new Set(['HEAD', ...OPERATIONS.map(({ method }) => method)])

export interface RouteRequest {
  readonly bytes: string
  readonly method: string
  /** Where its path would lead as the documents write it. */
  readonly place: Place
  readonly path: string
  /** The tenant that sends it; undefined for operators and requests without valid credentials. */
  readonly tenant: Tenant | undefined
  /** Whether it carries what its route requires. */
  readonly admitted: boolean
  readonly isOperator: boolean
  readonly plan: RoutePlan
}

/** Whether anything documented can be done by this method. */
export const isDocumented = (method: string): boolean => METHODS.has(method)

const PADDINGS = ['', ' ', '  ', '\t', ' \t ', '\t\t']
const SAFE = new Set(['GET', 'HEAD'])
/** Headers by which the console tells its own page from others. */
const OF_PAGES = new Set(['origin', 'referer', 'sec-fetch-site', 'x-svc-console', 'host', 'cookie'])

type Fields = readonly (readonly [string, string])[]

const tenantOf = ({ scheme }: Place, { tenants }: Target, n: number): Tenant | undefined => {
  if (scheme === 'merchant') return tenants[0]
  if (scheme === 'tenant') return tenants[n % tenants.length]
  return scheme?.startsWith('partner') ? tenants[1 + (n % 2)] : undefined
}

const spoilt = (text: string): string => text.slice(0, -2) + (text.at(-2) === 'A' ? 'BA' : 'AA')

interface Sent {
  readonly fields: Fields
  readonly tenant: Tenant | undefined
  readonly admitted: boolean
  readonly isOperator: boolean
}
const outsider = (fields: Fields): Sent => ({ fields, tenant: undefined, admitted: false, isOperator: false })

function sentByTenant(place: Place, plan: RoutePlan, target: Target): Sent {
  const tenant = tenantOf(place, target, plan.n)
  const own: Fields = tenant ? Object.entries(headersOf(tenant)) : []
  const wrong: Fields = own.map(([name, value]) => [name, name === 'authorization' ? spoilt(value) : value])
  switch (plan.caller) {
    case 'none':
      return outsider([])
    case 'wrong':
      return outsider(wrong)
    case 'twice':
      return outsider([...wrong, ...own])
    case 'foreignPage': {
      const other = target.tenants.find(({ kind }) => kind !== tenant?.kind)!
      return place.scheme === 'tenant' ? outsider([]) : outsider(Object.entries(headersOf(other)))
    }
    default:
      return { fields: own, tenant, admitted: tenant !== undefined, isOperator: false }
  }
}

/** The console's writes are only sent as other sites make a browser send them, or without valid credentials: all must be refused. */
function sentByBrowser(place: Place, plan: RoutePlan, method: string, { operatorCookie }: Target): Sent {
  // The connection itself is the credential.
  const isNear = place.scheme === 'loopback'
  const foreign: Fields = [
    ['cookie', operatorCookie],
    ['origin', 'https://evil.example'],
    ['x-svc-console', '1'],
  ]
  switch (plan.caller) {
    case 'none':
      return { ...outsider([['x-svc-console', '1']]), admitted: isNear }
    case 'wrong':
    case 'twice':
      return {
        ...outsider([
          ['cookie', spoilt(operatorCookie)],
          ['x-svc-console', '1'],
        ]),
        admitted: isNear,
      }
    case 'foreignPage':
      return outsider([...foreign, ['sec-fetch-site', 'cross-site']])
    case 'page':
      return SAFE.has(method)
        ? { fields: [['cookie', operatorCookie]], tenant: undefined, admitted: true, isOperator: true }
        : outsider([['cookie', operatorCookie]])
    case 'own':
      return SAFE.has(method)
        ? { fields: [['cookie', operatorCookie]], tenant: undefined, admitted: true, isOperator: true }
        : outsider(foreign)
  }
}

function filled(template: string, plan: RoutePlan, target: Target, tenant: Tenant | undefined): string {
  const from = plan.ids === 'victim' ? target.victims : tenant ? [tenant] : target.tenants
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const ids = plan.ids === 'none' ? [] : from.flatMap(({ ids: known }) => known.get(name) ?? [])
    return ids[plan.n % (ids.length || 1)] ?? 'none_0'
  })
}

const cased = (name: string, bits: number): string =>
  [...name].map((char, i) => ((bits >> (i % 28)) & 1 ? char.toUpperCase() : char)).join('')

/** The bytes of a plan; `as` sends the same by another method. */
export function routeRequest(plan: RoutePlan, target: Target, as?: string): RouteRequest {
  const place = PLACES[plan.target % PLACES.length]!
  const method = plan.method ?? place.method
  const isConsole = place.path.startsWith('/console')
  const { fields, tenant, admitted, isOperator } = isConsole
    ? sentByBrowser(place, plan, method, target)
    : sentByTenant(place, plan, target)
  const path = spelled(filled(place.path, plan, target, tenant), plan.spelling)
  const drawn = plan.headers.filter(([name]) => !isConsole || !OF_PAGES.has(name))
  const [bits, padding] = plan.writing
  const pad = PADDINGS[padding]!
  const hasHost = drawn.some(([name]) => name === 'host')
  const hasType = drawn.some(([name]) => name === 'content-type')
  const lines = [
    ...(hasHost ? [] : [`Host: ${new URL(target.baseUrl).host}`]),
    ...fields.map(([name, value]) => `${cased(name, bits)}:${pad}${value}${pad}`),
    ...drawn.map(([name, value]) => `${cased(name, bits >> 3)}:${pad}${value}`),
    ...(plan.body ? [...(hasType ? [] : ['content-type: application/json']), 'content-length: 2'] : []),
    'Connection: close',
  ]
  const head = [`${as ?? method} ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n')
  const bytes = head + (plan.body ? '{}' : '')
  return { bytes, method: as ?? method, place, path, tenant, admitted, isOperator, plan }
}
