import { requireText } from './required.ts'

declare const checked: unique symbol
/** The address of the service without a trailing slash. It keeps its path: a gateway may publish the service under one. */
export type BaseUrl = string & { readonly [checked]: true }

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** @throws TypeError when requests cannot be sent there, or keys would cross a network in the clear. */
export function readBaseUrl(baseUrl: string, allowPlainHttp = false): BaseUrl {
  requireText('baseUrl', baseUrl)
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new TypeError(
      'baseUrl must be an http or https URL without credentials, query and fragment, such as https://pay.example.com',
    )
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname) && !allowPlainHttp)
    throw new TypeError(
      'baseUrl must begin with https:// for a server that is not this machine: over http:// everybody on the way reads its keys; within a network of your own, allowPlainHttp permits it',
    )
  return url.href.replace(/(?<!\/)\/+$/, '') as BaseUrl
}

/** The one way to an address of the service. `new URL(path, baseUrl)` would drop the path of the base URL. */
export const urlOf = (baseUrl: BaseUrl, path: `/${string}`): string => `${baseUrl}${path}`
