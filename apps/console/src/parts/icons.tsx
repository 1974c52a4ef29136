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

export const OverviewIcon = drawing(<path d="M4 19V11M10 19V5M16 19v-6M21 19H3" />)
export const StatusIcon = drawing(<path d="M3 12h4l3-8 4 16 3-8h4" />)
export const RequestsIcon = drawing(<path d="M4 7h13l-3-3M20 17H7l3 3" />)
export const WebhookIcon = drawing(
  <path d="M18 8a3 3 0 1 0-3-3c0 1.400.8 2.300 1 3l-3.500 6M6 20a3 3 0 1 0 0-6c-1.200 0-2 .5-2.500 1M6 17h9M18 20a3 3 0 1 0-2.700-4.300M6 17l4-7.500a3 3 0 0 1-1-4.500" />,
)
export const MerchantIcon = drawing(
  <path d="M4 10v10h16V10M3 10l2-6h14l2 6a3 3 0 0 1-6 0 3 3 0 0 1-6 0 3 3 0 0 1-6 0M10 20v-5h4v5" />,
)
export const QrIcon = drawing(
  <path d="M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2v2h-2zM18 18h2v2h-2zM18 14h2M14 20v-2" />,
)
export const PaymentIcon = drawing(<path d="M7 5h10M7 9h10M8 5h2.5a4 4 0 0 1 0 8H7l7 7" />)
export const RefundIcon = drawing(<path d="M4 9h10a5 5 0 0 1 0 10H8M8 5 4 9l4 4" />)
export const PayoutIcon = drawing(<path d="M3 10 12 4l9 6M5 10v8M10 10v8M14 10v8M19 10v8M3 20h18" />)
export const SettlementIcon = drawing(<path d="M12 3v12M7 10l5 5 5-5M4 20h16" />)
export const StatementIcon = drawing(<path d="M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6" />)
export const CloseIcon = drawing(<path d="M4 6h16v14H4zM8 3v5M16 3v5M4 10h16M9 15l2 2 4-4" />)
export const SuspenseIcon = drawing(<path d="M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M12 7v5l3 2" />)
export const NoticeIcon = drawing(<path d="M4 5h16v12H9l-5 4zM8 9h8M8 13h5" />)
export const ExceptionIcon = drawing(
  <path d="M5 5h14a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2M12 8v5M12 16v.01" />,
)
export const PartnerIcon = drawing(
  <path d="M12 12 8.5 8.500a3 3 0 0 1 4-4.400L14 5.500l2-1a3 3 0 0 1 4 4L12 19l-8-8a3 3 0 0 1 0-4" />,
)
export const CompanyIcon = drawing(
  <path d="M4 20V5l9-2v17M13 9h7v11M3 20h18M8 8h1M8 12h1M8 16h1M16 13h1M16 16h1" />,
)
export const AccountIcon = drawing(
  <path d="M3 7h15a3 3 0 0 1 3 3v7a3 3 0 0 1-3 3H6a3 3 0 0 1-3-3zM3 7a3 3 0 0 1 3-3h10v3M16.5 13.500h.01" />,
)
export const UserIcon = drawing(<path d="M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8M4.5 20a7.5 7.5 0 0 1 15 0" />)
export const CardIcon = drawing(
  <path d="M5 5h14a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2M3 10h18M7 15h3" />,
)
export const CoinIcon = drawing(
  <path d="M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M14.5 9a3 3 0 0 0-2.5-1.200c-1.5 0-2.6.8-2.6 2.1 0 2.8 5.3 1.3 5.3 4.2 0 1.3-1.2 2.1-2.7 2.100A3.2 3.2 0 0 1 9.3 15M12 6.200v11.6" />,
)
export const LedgerIcon = drawing(
  <path d="M6 3h13v18H6a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2M8 3v18M11.5 8h4M11.5 12h4" />,
)
export const AuditIcon = drawing(
  <path d="M12 3 5 6v5c0 4.5 2.9 8.2 7 10 4.1-1.8 7-5.5 7-10V6zM9 12l2 2 4-4" />,
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
