import type { ReactNode } from 'react'

/** Line drawings on a 24 grid, in the colour of the text around them; the words beside them carry the meaning. */
function drawing(path: ReactNode, sizePx = 18) {
  return function Icon() {
    return (
      <svg
        width={sizePx}
        height={sizePx}
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.8"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
        focusable="false"
      >
        {path}
      </svg>
    )
  }
}

export const HomeIcon = drawing(<path d="M4 11.500 12 4l8 7.500V20h-5v-5H9v5H4z" />)
export const WebhookIcon = drawing(
  <path d="M18 8a3 3 0 1 0-3-3c0 1.400.8 2.300 1 3l-3.500 6M6 20a3 3 0 1 0 0-6c-1.200 0-2 .5-2.500 1M6 17h9M18 20a3 3 0 1 0-2.700-4.300M6 17l4-7.500a3 3 0 0 1-1-4.500" />,
)
export const QrIcon = drawing(
  <path d="M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2v2h-2zM18 18h2v2h-2zM18 14h2M14 20v-2" />,
)
export const PayoutIcon = drawing(<path d="M3 10 12 4l9 6M5 10v8M10 10v8M14 10v8M19 10v8M3 20h18" />)
export const TenantIcon = drawing(
  <path d="M4 20V5l9-2v17M13 9h7v11M3 20h18M8 8h1M8 12h1M8 16h1M16 13h1M16 16h1" />,
)
export const UserIcon = drawing(<path d="M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8M4.5 20a7.5 7.5 0 0 1 15 0" />)
export const CardIcon = drawing(
  <path d="M5 5h14a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2M3 10h18M7 15h3" />,
)
export const CoinIcon = drawing(
  <path d="M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M14.5 9a3 3 0 0 0-2.5-1.200c-1.5 0-2.6.8-2.6 2.1 0 2.8 5.3 1.3 5.3 4.2 0 1.3-1.2 2.1-2.7 2.100A3.2 3.2 0 0 1 9.3 15M12 6.200v11.6" />,
)
export const AuditIcon = drawing(
  <path d="M12 3 5 6v5c0 4.5 2.9 8.2 7 10 4.1-1.8 7-5.5 7-10V6zM9 12l2 2 4-4" />,
)
export const SettingsIcon = drawing(
  <path d="M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6M12 3v3M12 18v3M3 12h3M18 12h3M5.600 5.600l2.100 2.100M16.300 16.300l2.100 2.100M5.600 18.400l2.100-2.100M16.300 7.700l2.100-2.100" />,
)
export const SearchIcon = drawing(<path d="M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13M15.5 15.5 20 20" />)
export const SunIcon = drawing(
  <path d="M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.400M17.6 17.6 19 19M5 19l1.4-1.400M17.6 6.4 19 5" />,
)
export const MoonIcon = drawing(<path d="M20 14.500A8 8 0 1 1 9.5 4a6.5 6.5 0 0 0 10.5 10.5" />)
export const AutoIcon = drawing(
  <path d="M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M12 3v18M12 8l6.5-2M12 13l8.5-3M12 18l8-4" />,
)
export const CheckIcon = drawing(<path d="m5 13 4 4L19 7" />, 15)
export const CopyIcon = drawing(<path d="M9 9h11v11H9zM5 15H4V4h11v1" />, 15)
export const WarningIcon = drawing(<path d="M12 4 2.5 20h19zM12 10v4M12 17v.01" />)
export const PlusIcon = drawing(<path d="M12 5v14M5 12h14" />, 16)
export const DownloadIcon = drawing(<path d="M12 4v11m-5-5 5 5 5-5M5 20h14" />, 15)
export const UpIcon = drawing(<path d="m6 15 6-6 6 6" />, 13)
export const DownIcon = drawing(<path d="m6 9 6 6 6-6" />, 13)
export const BothIcon = drawing(<path d="m8 10 4-4 4 4M8 14l4 4 4-4" />, 13)
