import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'

/** A tenant as people name it: by its id, or `platform`, whose credits fit no merchant. */
export const readTenant = (text: string): string => (text === 'platform' ? PLATFORM_TENANT : text)
