import { requireText } from './required.ts'

declare const checked: unique symbol
/** The address of the service without a trailing slash. It keeps its path: a gateway may publish the service under one. */
export type BaseUrl = string & { readonly [checked]: true }

/** @throws TypeError when requests cannot be sent there. */
export function readBaseUrl(baseUrl: string): BaseUrl {
  requireText('baseUrl', baseUrl)
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new TypeError(
      'baseUrl must be an http or https URL without credentials, query and fragment, such as https://pay.example.com',
    )
  return url.href.replace(/(?<!\/)\/+$/, '') as BaseUrl
}

/** The one way to an address of the service. `new URL(path, baseUrl)` would drop the path of the base URL. */
export const urlOf = (baseUrl: BaseUrl, path: `/${string}`): string => `${baseUrl}${path}`
